//! Planted bugs: each is one wrong decision at the place where the right one is made.
//!
//! Tests switch one on to show that the checks find it, and so does the simulator, whose build has
//! `cfg(sim)`. Other builds contain none of them. The switch belongs to the thread, so that
//! concurrent runs do not disturb each other.

use std::cell::Cell;

/// The bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// A deleted key stays in its index buckets (FM-51).
    DeleteForgetsIndex,
    /// An update adds the new index values and keeps the old ones (IX-04).
    UpdateKeepsOldValues,
    /// A replacement of one namespace deletes the objects of others (FM-14).
    ReplaceIgnoresScope,
    /// The first of several entries with one key is used (ST-05).
    FirstDuplicateWins,
    /// An index added later is not filled (FM-60).
    IndexNotFilled,
    /// Commits between the preparation and the installation of an index are missing in it.
    InstallSkipsCatchUp,
    /// Each operation of a batch is published separately (STX-4).
    BatchIsTorn,
    /// A query takes keys from one state and objects from another (STX-4).
    QueryLooksTwice,
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
