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

/// The number of callbacks in a row after which a task yields: about the number that tokio allows.
const AT_ONCE: usize = 64;

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
    /// Calls the handler for the current notification and for those in flight behind it. Returns
    /// the number of calls.
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

    /// Calls the handler on the runtime until its listener ends.
    pub(crate) async fn run(mut self) {
        let mut calls = 0;
        while self.next().await {
            calls += self.handle_in_flight();
            // A long backlog must not keep a current-thread runtime from everything else.
            if calls >= AT_ONCE {
                calls = 0;
                tokio::task::yield_now().await;
            }
        }
    }

    /// Calls the handler on the present thread until its listener ends.
    pub(crate) fn run_blocking(mut self) {
        // Only the waiting is inside `block_on`, so that the handler may use an executor itself.
        while block_on(self.next()) {
            self.handle_in_flight();
        }
    }
}

impl<H: AsyncHandler<K, T>, K: Key, T: Send + Sync + 'static> Delivery<H, K, T> {
    /// Calls the asynchronous handler on the runtime until its listener ends.
    pub(crate) async fn run_async(mut self) {
        let caller = self.consumer.listener().caller;
        while self.next().await {
            let shared = Arc::clone(self.consumer.current());
            let result = match call(caller, || self.handler.on_notification(shared)) {
                Ok(callback) => poll_guarded(caller, callback).await,
                Err(panicked) => Err(panicked),
            };
            self.consumer.finish(&result);
            tokio::task::coop::consume_budget().await;
        }
    }
}

/// Polls and drops the future of a callback behind the panic boundary.
async fn poll_guarded(caller: Caller, callback: impl Future<Output = ()>) -> Result<(), Panicked> {
    let mut callback = pin!(Some(callback));
    let result = poll_fn(|cx| {
        let callback = callback.as_mut().as_pin_mut().expect("dropped below");
        match call(caller, || callback.poll(cx)) {
            Ok(poll) => poll.map(Ok),
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    })
    .await;
    // The drop of a future is user code too.
    let dropped = call(caller, || callback.set(None));
    result.and(dropped)
}
