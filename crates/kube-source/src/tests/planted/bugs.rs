//! Planted bugs: each is one wrong decision at the place where the right one is made.
//!
//! Tests switch one on to show that the checks find it, and so does the simulator, whose build has
//! `cfg(sim)`. Other builds contain none of them. The switch belongs to the thread, so that
//! concurrent runs do not disturb each other.

use std::cell::Cell;

/// The bugs.
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

thread_local! {
    static ACTIVE: Cell<Option<Planted>> = const { Cell::new(None) };
}

pub(crate) fn is_active(bug: Planted) -> bool {
    ACTIVE.get() == Some(bug)
}

/// Runs `f` with a bug switched on for this thread, or with none.
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
