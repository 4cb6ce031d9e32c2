//! Planted bugs: each is one wrong decision at the place where the right one is made.
//!
//! Tests switch one on to show that the checks find it, and so does the simulator, whose build has
//! `cfg(sim)`. Other builds contain none of them. The switch belongs to the thread, so that
//! concurrent runs do not disturb each other.

use std::cell::Cell;

/// The bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// A change after a pending deletion replaces it, so the deletion is never delivered.
    UpdateSwallowsDelete,
    /// The same for a relist (FM-49).
    ReplacedSwallowsDelete,
    /// A relist gives an object that is only queued no tombstone (FM-48).
    NoTombstoneForQueued,
    /// A relist gives an object with a pending deletion a second tombstone (FQ-6).
    TombstoneTwice,
    /// A relist replaces a key that it contains twice two times (FQ-8).
    ListedTwice,
    /// A relist ignores leased changes.
    RelistForgetsLeased,
    /// Deletion and resync ignore leased changes.
    LeasedIsForgotten,
    /// A resync ignores pending changes (FM-50).
    ResyncOverPending,
    /// The queue is synced when the initial population is leased, not acknowledged (FQ-9, DF-12).
    SyncedOnLease,
    /// The applied position advances when a change is leased, not acknowledged.
    AppliedOnLease,
    /// A failed change is retried after all pending ones.
    NackToTail,
    /// A change received while its key is leased is lost when the key is retried (FQ-3).
    NackForgetsNewer,
    /// A lease may contain a part of a relist.
    TornGroup,
    /// A relist does not include a deletion that is already pending.
    DeletionOutsideRelist,
    /// A relist has changed the queue before the transform and the store are called (DF-14).
    RelistBegunFirst,
    /// An object is transformed twice (FQ-12).
    TransformsTwice,
    /// A batch contains a key twice (RF-05).
    BatchRepeatsKey,
    /// The first object of a key that is listed twice is used (FQ-8).
    FirstListedWins,
    /// A waiter registers after the check that made it wait, not atomically with it.
    PlaceTakenTooLate,
    /// Waiters are collected before the change that they wait for is made.
    WakersTakenFirst,
    /// A producer uses room that an earlier check found, without checking again.
    RoomSeenEarly,
    /// A lease is removed before it is settled.
    GuardForgottenFirst,
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
