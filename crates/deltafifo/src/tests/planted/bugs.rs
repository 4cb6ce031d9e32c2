//! Planted bugs: each is one wrong decision at the place where the right one is made.
//!
//! Tests switch one on to show that the checks find it, and so does the simulator, whose build has
//! `cfg(sim)`. Other builds contain none of them. The switch belongs to the thread, so that
//! concurrent runs do not disturb each other.

use std::cell::Cell;

/// The bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// A change over a pending deletion replaces it: the deletion is never seen.
    UpdateSwallowsDelete,
    /// The same for a relist (FM-49).
    ReplacedSwallowsDelete,
    /// An object that is only in the queue gets no tombstone (FM-48).
    NoTombstoneForQueued,
    /// An object whose deletion waits gets a tombstone, too (FQ-6).
    TombstoneTwice,
    /// A key listed twice is replaced twice (FQ-8).
    ListedTwice,
    /// A relist does not see what is leased.
    RelistForgetsLeased,
    /// Deletion and resync do not see what is leased.
    LeasedIsForgotten,
    /// A resync does not see what is pending (FM-50).
    ResyncOverPending,
    /// Synced moves when the initial population is taken (FQ-9, DF-12).
    SyncedOnLease,
    /// Applied moves when a change is taken.
    AppliedOnLease,
    /// What failed goes to the tail.
    NackToTail,
    /// What came while a key was leased is lost when the key comes back (FQ-3).
    NackForgetsNewer,
    /// A relist can be taken in pieces.
    TornGroup,
    /// A deletion that waits when a relist comes is not part of it.
    DeletionOutsideRelist,
    /// A relist has begun while the transform and the consumer's state are asked (DF-14).
    RelistBegunFirst,
    /// An object is transformed twice (FQ-12).
    TransformsTwice,
    /// A batch holds a key twice (RF-05).
    BatchRepeatsKey,
    /// Of a key listed twice the first object counts (FQ-8).
    FirstListedWins,
    /// Who has to wait takes a place after the look that told so, not in it.
    PlaceTakenTooLate,
    /// Those who wait are asked for before the change they wait for is made.
    WakersTakenFirst,
    /// Room that was seen is taken to be there still.
    RoomSeenEarly,
    /// A lease is forgotten first, and then settled.
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

/// Whether a bug is switched on: `planted!(Bug)`; or what it does: `planted!(Bug => ..)`.
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
