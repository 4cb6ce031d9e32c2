//! The loops that deliver: one task or thread per handler.
//!
//! A loop takes the next notification, calls the handler and reports that it was handled. The
//! consumer decides which notification is next and whether it may start.

pub(crate) mod consumer;
pub(crate) mod stream;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use crate::boundary::{Calling, Panicked, call, guarded};
use crate::delivery::consumer::Consumer;
use crate::handler::{AsyncHandler, Handler};
use crate::listener::status::Caller;
use crate::notification::Key;
use crate::sync::block_on;

/// A handler and where its notifications come from. The handler is dropped first, so that it is
/// gone when the listener's end is announced.
pub(crate) struct Delivery<H, K: Key, T: Send + Sync + 'static> {
    pub(crate) handler: H,
    pub(crate) consumer: Consumer<K, T>,
}

impl<H, K: Key, T: Send + Sync + 'static> Delivery<H, K, T> {
    async fn next(&mut self) -> bool {
        poll_fn(|cx| self.consumer.poll_next(cx)).await
    }
}

impl<H: Handler<K, T>, K: Key, T: Send + Sync + 'static> Delivery<H, K, T> {
    /// Calls the handler for what was handed out and all that is in hand behind it. How often.
    fn handle_in_flight(&mut self) -> usize {
        let Self { handler, consumer } = self;
        let _calling = Calling::begin(consumer.listener().caller);
        let mut calls = 1;
        loop {
            let result = guarded(|| handler.on_notification(consumer.current()));
            if !consumer.follow(&result) {
                return calls;
            }
            calls += 1;
        }
    }
}

/// After so many callbacks in a row a task lets others run: about as many as tokio itself allows.
const AT_ONCE: usize = 64;

/// Calls a handler on the runtime until its listener ends.
pub(crate) async fn run<H, K, T>(mut delivery: Delivery<H, K, T>)
where
    H: Handler<K, T>,
    K: Key,
    T: Send + Sync + 'static,
{
    let mut calls = 0;
    while delivery.next().await {
        calls += delivery.handle_in_flight();
        // A long backlog must not keep a current-thread runtime from everything else.
        if calls >= AT_ONCE {
            calls = 0;
            tokio::task::yield_now().await;
        }
    }
}

/// Calls an asynchronous handler on the runtime until its listener ends.
pub(crate) async fn run_async<H, K, T>(mut delivery: Delivery<H, K, T>)
where
    H: AsyncHandler<K, T>,
    K: Key,
    T: Send + Sync + 'static,
{
    let caller = delivery.consumer.listener().caller;
    while delivery.next().await {
        let shared = Arc::clone(delivery.consumer.current());
        let result = match call(caller, || delivery.handler.on_notification(shared)) {
            Ok(callback) => poll_guarded(caller, callback).await,
            Err(panicked) => Err(panicked),
        };
        delivery.consumer.finish(&result);
        tokio::task::coop::consume_budget().await;
    }
}

/// Polls and drops the future of a callback behind the panic boundary.
async fn poll_guarded(caller: Caller, callback: impl Future<Output = ()>) -> Result<(), Panicked> {
    let mut callback = pin!(Some(callback));
    let result = poll_fn(|cx| {
        let poll = || {
            callback
                .as_mut()
                .as_pin_mut()
                .map(|callback| callback.poll(cx))
        };
        match call(caller, poll) {
            Ok(Some(Poll::Pending)) => Poll::Pending,
            Ok(Some(Poll::Ready(())) | None) => Poll::Ready(Ok(())),
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    })
    .await;
    // The drop of a future is user code too.
    let dropped = call(caller, || callback.set(None));
    result.and(dropped)
}

/// Calls a handler on a thread of its own until its listener ends.
pub(crate) fn run_blocking<H, K, T>(mut delivery: Delivery<H, K, T>)
where
    H: Handler<K, T>,
    K: Key,
    T: Send + Sync + 'static,
{
    // Only the waiting is inside `block_on`, so that the handler may use an executor itself.
    while block_on(delivery.next()) {
        delivery.handle_in_flight();
    }
}
