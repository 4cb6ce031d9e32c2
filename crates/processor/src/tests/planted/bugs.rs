//! Planted bugs: each is one wrong decision at the place where the right one is made.
//!
//! Tests switch one on to show that the checks find it, and so does the simulator, whose build has
//! `cfg(sim)`. Other builds contain none of them. The switch belongs to the thread, so that
//! concurrent runs do not disturb each other.

use std::cell::Cell;

/// The bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// The ring keeps its burst capacity, as client-go's does.
    RingNeverShrinks,
    /// The ring reorders its entries when it grows, as a copy from slot zero would.
    RingForgetsToUnwrap,
    /// Two updates in a row keep the old state of the second.
    UpdateLosesFirstOld,
    /// A tombstone merged with an update shows the state of that update (PR-3).
    UnknownSkipsTheUpdate,
    /// A new object with the key of a deleted one is delivered as an update of it.
    RecreatedAsUpdate,
    /// An added object that is updated while it waits is no longer initial.
    InitialFlagLost,
    /// An object that is added and deleted while pending is never settled.
    AnnihilationUnsettled,
    /// A resync replay announces objects that have a newer notification pending.
    ResyncIgnoresPending,
    /// A resync replay announces objects that were added and deleted while it was pending.
    ResyncRemembersNothing,
    /// Each change gets an entry of its own.
    CoalesceAppends,
    /// An initial notification is counted when it is delivered, not when it is queued.
    SyncForgetsStart,
    /// A joining listener keeps notifications that its snapshot already contains.
    JoinKeepsOverlap,
    /// Notifications up to the snapshot's sequence are delivered if they arrive after `begin`.
    JoinForgetsFloor,
    /// A key whose entry is merged moves to the end of the queue.
    MergedGoesToTheEnd,
    /// The second of two pending changes of one object is lost (FM-65).
    NewestIsLost,
    /// A consumer registers its waker after the check that found nothing, not atomically with it.
    WakerLeftTooLate,
    /// The gate is checked and entered in two steps.
    GateLooksThenEnters,
    /// A removal drops pending notifications and leaves the gate open.
    RemovalOnlyEmpties,
    /// The list of listeners is copied under its lock and written back under another.
    ListIsWrittenBack,
    /// A stop ends the present listeners before it refuses new ones.
    StopReadsTheListFirst,
    /// A checkpoint is passed although a callback is running.
    CheckpointIgnoresInFlight,
    /// Packing a coalescing buffer leaves its checkpoints where they were.
    PackForgetsCheckpoints,
    /// Listeners that join while the upstream is marked as synced do not learn of it.
    SyncReadsTheListFirst,
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

/// Whether a bug is switched on. A constant `false` where there are none.
macro_rules! planted {
    ($bug:ident) => {
        crate::planted::is_active(crate::planted::Planted::$bug)
    };
}
