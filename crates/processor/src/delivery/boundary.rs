//! The panic boundary: the one place where a panic of user code is caught.
//!
//! - PR-12: a panic ends the callback, not the listener. `tests/panic.rs`
//! - FM-67: a callback can be attributed to its listener, so that a listener that waits for its own
//!   end is refused. `tests/remove.rs`

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::listener::status::Caller;
use crate::sync::thread_local;

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
