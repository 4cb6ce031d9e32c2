//! Bugs that tests switch on to prove that the proofs would find them. Not in a release.
//!
//! Each is one wrong decision at the place where it would really be made. The switch belongs to the
//! thread, so that tests running beside each other do not disturb each other.

#[cfg(any(test, fuzzing))]
use std::cell::Cell;

/// The bugs.
#[cfg(any(test, fuzzing))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// The ring keeps its burst capacity, as client-go's does.
    RingNeverShrinks,
    /// The ring copies its slots from the beginning instead of from the head.
    RingForgetsToUnwrap,
    /// Two updates in a row keep the old state of the second.
    UpdateLosesFirstOld,
    /// A new object with the key of a deleted one is delivered as an update of it.
    RecreatedAsUpdate,
    /// An added object that is updated while it waits is no longer initial.
    InitialFlagLost,
    /// An object that comes and goes while it waits is never settled.
    AnnihilationUnsettled,
    /// A resync walk announces objects that have newer news pending.
    ResyncIgnoresPending,
    /// A resync walk announces objects that came and went unnoticed while it was in line.
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
    /// Those who join while it is said that all was handed over are not told.
    SyncReadsTheListFirst,
}

#[cfg(any(test, fuzzing))]
thread_local! {
    static ACTIVE: Cell<Option<Planted>> = const { Cell::new(None) };
}

#[cfg(any(test, fuzzing))]
pub(crate) fn is_active(bug: Planted) -> bool {
    ACTIVE.get() == Some(bug)
}

/// Runs `f` with `bug` switched on for this thread.
#[cfg(any(test, fuzzing))]
pub(crate) fn with<R>(bug: Planted, f: impl FnOnce() -> R) -> R {
    struct Off;
    impl Drop for Off {
        fn drop(&mut self) {
            ACTIVE.set(None);
        }
    }
    ACTIVE.set(Some(bug));
    let _off = Off;
    f()
}

/// Whether a bug is switched on. A constant `false` outside of tests and fuzz targets.
#[cfg(any(test, fuzzing))]
macro_rules! planted {
    ($bug:ident) => {
        crate::planted::is_active(crate::planted::Planted::$bug)
    };
}

#[cfg(not(any(test, fuzzing)))]
macro_rules! planted {
    ($bug:ident) => {
        false
    };
}
