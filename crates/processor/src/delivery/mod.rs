//! The only tasks and threads, the only clock, and the one place where a panic is caught.
//!
//! Deliberately dull: take the next notification, call the handler, say that it was handled. What
//! is next, and whether it may start, is decided elsewhere.
//!
//! - PR-12: a panic ends the callback, not the listener. `tests/panic.rs`
//! - FM-67: a callback knows whose it is, so that waiting for its own end is refused.
//!   `tests/remove.rs`

pub(crate) mod consumer;
pub(crate) mod log_gate;
pub(crate) mod stream;

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use crate::delivery::consumer::Consumer;
use crate::handler::{AsyncHandler, Handler};
use crate::key::Key;
use crate::listener::status::ListenerId;
use crate::sync::{block_on, thread_local};

/// The clock: tokio's, so that tests can pause it.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// A callback panicked.
pub(crate) struct Panicked {
    /// What it said, at most `LONGEST_MESSAGE` characters of it.
    pub(crate) message: String,
}

/// A panic message in a log need not be a book.
const LONGEST_MESSAGE: usize = 200;

/// The boundary: runs user code and turns a panic into a value. What the code has left half-done is
/// the user's own; nothing of ours is touched while it runs.
pub(crate) fn guarded<R>(f: impl FnOnce() -> R) -> Result<R, Panicked> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|panic| Panicked {
        message: message(&*panic),
    })
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("(not a text)");
    text.chars().take(LONGEST_MESSAGE).collect()
}

/// Whose callback this thread is running: the processor's number and the listener's.
pub(crate) type Caller = (u64, ListenerId);

thread_local! {
    static CALLER: std::cell::Cell<Option<Caller>> = const { std::cell::Cell::new(None) };
}

/// Whose callback is running on this thread, if one is.
pub(crate) fn caller() -> Option<Caller> {
    CALLER.with(std::cell::Cell::get)
}

/// While it lives, callbacks on this thread are those of one caller.
struct Calling {
    before: Option<Caller>,
}

impl Calling {
    fn begin(caller: Caller) -> Self {
        let before = CALLER.with(|before| before.replace(Some(caller)));
        Self { before }
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        CALLER.with(|caller| caller.set(self.before));
    }
}

/// Runs `f` as a callback of `caller`, behind the boundary.
fn call<R>(caller: Caller, f: impl FnOnce() -> R) -> Result<R, Panicked> {
    let _calling = Calling::begin(caller);
    guarded(f)
}

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
    fn handle_in_hand(&mut self) -> usize {
        let Self { handler, consumer } = self;
        let _calling = Calling::begin(consumer.cell().caller());
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
pub(crate) async fn run<H, K, T>(delivery: Delivery<H, K, T>)
where
    H: Handler<K, T>,
    K: Key,
    T: Send + Sync + 'static,
{
    let mut delivery = delivery;
    let mut calls = 0;
    while delivery.next().await {
        calls += delivery.handle_in_hand();
        // A long backlog must not keep a current-thread runtime from everything else.
        if calls >= AT_ONCE {
            calls = 0;
            tokio::task::yield_now().await;
        }
    }
}

/// Calls an asynchronous handler on the runtime until its listener ends.
pub(crate) async fn run_async<H, K, T>(delivery: Delivery<H, K, T>)
where
    H: AsyncHandler<K, T>,
    K: Key,
    T: Send + Sync + 'static,
{
    let mut delivery = delivery;
    let caller = delivery.consumer.cell().caller();
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

/// Each poll is behind the boundary, since each runs user code.
async fn poll_guarded(caller: Caller, callback: impl Future<Output = ()>) -> Result<(), Panicked> {
    let mut callback = pin!(callback);
    poll_fn(|cx| match call(caller, || callback.as_mut().poll(cx)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(())) => Poll::Ready(Ok(())),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

/// Calls a handler on a thread of its own until its listener ends.
pub(crate) fn run_blocking<H, K, T>(delivery: Delivery<H, K, T>)
where
    H: Handler<K, T>,
    K: Key,
    T: Send + Sync + 'static,
{
    let mut delivery = delivery;
    // Only the waiting is inside `block_on`, so that the handler may use an executor itself.
    while block_on(delivery.next()) {
        delivery.handle_in_hand();
    }
}
