//! Switchable bugs: each is one wrong decision at the place where it could be made.
//!
//! Tests and the simulator (`cfg(sim)`) switch a bug on to show that the checks find it. No other
//! build contains this code. The switch belongs to the thread, so concurrent runs do not affect
//! each other.

#[cfg(any(test, sim))]
use std::cell::Cell;

/// The bugs.
#[cfg(any(test, sim))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// A truncated list counts as complete.
    // FM-10
    CutListIsComplete,
    /// An event of an unknown type counts as a bookmark, as in client-go.
    // FM-31
    UnknownTypeIsSkipped,
    /// An event of another kind is skipped, and its version counts as received.
    // FM-33
    WrongKindIsSkipped,
    /// The transform runs a second time on its own result.
    // FM-57
    TransformsTwice,
}

#[cfg(any(test, sim))]
thread_local! {
    static ACTIVE: Cell<Option<Planted>> = const { Cell::new(None) };
}

#[cfg(any(test, sim))]
pub(crate) fn is_active(bug: Planted) -> bool {
    ACTIVE.get() == Some(bug)
}

/// Runs `f` with a bug switched on for this thread, or with none.
#[cfg(any(test, sim))]
pub fn with<R>(bug: impl Into<Option<Planted>>, f: impl FnOnce() -> R) -> R {
    struct Before(Option<Planted>);
    impl Drop for Before {
        fn drop(&mut self) {
            ACTIVE.set(self.0);
        }
    }
    let _before = Before(ACTIVE.replace(bug.into()));
    f()
}

/// Whether a bug is switched on: `planted!(Bug)`; or its effect: `planted!(Bug => ..)`.
#[cfg(any(test, sim))]
macro_rules! planted {
    ($bug:ident) => {
        crate::planted::is_active(crate::planted::Planted::$bug)
    };
    ($bug:ident => $effect:expr) => {
        if planted!($bug) {
            $effect
        }
    };
}

#[cfg(not(any(test, sim)))]
macro_rules! planted {
    ($bug:ident) => {
        false
    };
    ($bug:ident => $effect:expr) => {};
}
