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
    /// The ring, when it grows, puts its entries out of order, as a copy from slot zero would.
    RingForgetsToUnwrap,
    /// Two updates in a row keep the old state of the second.
    UpdateLosesFirstOld,
    /// A tombstone merged with an update shows the state of that update (PR-3).
    UnknownSkipsTheUpdate,
    /// A new object with the key of a deleted one is delivered as an update of it.
    RecreatedAsUpdate,
    /// An added object that is updated while it waits is no longer initial.
    InitialFlagLost,
    /// An object that comes and goes while it waits is never settled.
    AnnihilationUnsettled,
    /// A resync replay announces objects that have newer news pending.
    ResyncIgnoresPending,
    /// A resync replay announces objects that came and went unnoticed while it was in line.
    ResyncRemembersNothing,
    /// Each change gets an entry of its own.
    CoalesceAppends,
    /// An initial notification is counted when it is delivered only.
    SyncForgetsStart,
    /// A joining listener keeps what its snapshot already shows.
    JoinKeepsOverlap,
    /// News up to the snapshot's sequence that come after `begin` are delivered.
    JoinForgetsFloor,
    /// A key whose entry is merged goes to the end of the line.
    MergedGoesToTheEnd,
    /// Of two changes of one object that waits the second is lost (FM-65).
    NewestIsLost,
    /// A consumer leaves its waker after the look at which it found nothing, not in it.
    WakerLeftTooLate,
    /// The gate is looked at, and then entered.
    GateLooksThenEnters,
    /// A removal throws away what waits and leaves the gate open.
    RemovalOnlyEmpties,
    /// The list of listeners is copied under its lock and written back under another.
    ListIsWrittenBack,
    /// A stop ends those who were there before it refused others.
    StopReadsTheListFirst,
    /// A checkpoint is passed although a callback is running.
    CheckpointIgnoresInFlight,
    /// Packing a coalescing buffer leaves its checkpoints where they were.
    PackForgetsCheckpoints,
    /// Those who join while it is said that all was handed over are not told.
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
