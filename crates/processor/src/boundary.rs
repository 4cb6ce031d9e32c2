//! The panic boundary: the one place where a panic of user code is caught.

// - PR-12: a panic ends the callback, not the listener. `tests/panic.rs`, `tests/user_drops.rs`
// - FM-67: a callback can be attributed to its listener, so that a listener that waits for its own
//   end is refused. `tests/remove.rs`

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::listener::status::Caller;
use crate::sync::thread_local;

/// A panic of user code.
pub(crate) struct Panicked {
    /// The panic's message, cut after `LONGEST_MESSAGE` characters.
    pub(crate) message: String,
}

/// The number of characters of a panic's message that are kept for the log.
const LONGEST_MESSAGE: usize = 200;

/// Runs user code and turns a panic into a value.
///
/// User code is a callback, the poll of its future, an iterator, a waker, and the drop of any of
/// these, of a key or of an object. State of the processor is not changed while it runs.
///
/// Two drops that panic while one value is dropped abort the process: no boundary can prevent it.
pub(crate) fn guarded<R>(f: impl FnOnce() -> R) -> Result<R, Panicked> {
    catch_unwind(AssertUnwindSafe(f)).map_err(Panicked::new)
}

impl Panicked {
    fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("(not a text)");
        let message = text.chars().take(LONGEST_MESSAGE).collect();
        // The drop of the payload is user code too. A second panic adds nothing to the first.
        let _second = guarded(|| drop(payload));
        Self { message }
    }
}

thread_local! {
    static CALLER: std::cell::Cell<Option<Caller>> = const { std::cell::Cell::new(None) };
}

/// Whose callback is running on this thread, if one is.
pub(crate) fn caller() -> Option<Caller> {
    CALLER.with(std::cell::Cell::get)
}

/// While it lives, callbacks on this thread are those of one caller.
pub(crate) struct Calling {
    before: Option<Caller>,
}

impl Calling {
    pub(crate) fn begin(caller: Caller) -> Self {
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
pub(crate) fn call<R>(caller: Caller, f: impl FnOnce() -> R) -> Result<R, Panicked> {
    let _calling = Calling::begin(caller);
    guarded(f)
}
