//! Bugs that tests switch on to prove that the proofs would find them. Not in a release.
//!
//! Each is one wrong decision at the place where it would really be made. The switch belongs to the
//! thread, so that tests running beside each other do not disturb each other.

#[cfg(test)]
use std::cell::Cell;

/// The bugs.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// An older version overwrites a newer one, as in client-go (golden row L).
    OlderApplied,
    /// A relist announces what did not change.
    UnchangedAnnounced,
    /// A new uid under an old name is an update, as in client-go (golden row N).
    RebornAsUpdate,
    /// The deletion of an object nobody knew is announced, as in client-go (golden row K).
    StrangerAnnounced,
    /// What a relist leaves out stays.
    ReplaceForgetsDeletes,
    /// A relist of one namespace deletes the objects of others (FM-14).
    ReplaceIgnoresScope,
    /// A late deletion of an earlier life ends the present one.
    OldLifeKills,
    /// Versions are compared across a rewind of the server's history (FM-39).
    EpochIgnored,
    /// What the same lease did to a key before is not seen.
    StaleLookup,
    /// A tombstone carries nothing.
    TombstoneIsEmpty,
    /// An object the store cannot take is announced all the same.
    RefusedAnnounced,
    /// An object that was there at the start is announced as new.
    InitialFlagLost,
    /// The checker compares keys that the store cannot hold (IN-7).
    QuarantineCompared,
    /// The checker counts what has changed since.
    PassingMatterCounts,
    /// The checker does not look for what the server has no more.
    ExtraOverlooked,
    /// The checker compares versions only.
    UidOverlooked,
    /// What was asked for is looked up, and then made and put down.
    MadeByTwo,
    /// An end does not wait for a start that is under way.
    EndTakesNoTurn,
    /// A factory that stops refuses others only after it has read whom to end.
    RefusedTooLate,
}

#[cfg(test)]
thread_local! {
    static ACTIVE: Cell<Option<Planted>> = const { Cell::new(None) };
}

#[cfg(test)]
pub(crate) fn is_active(bug: Planted) -> bool {
    ACTIVE.get() == Some(bug)
}

/// Runs `f` with `bug` switched on for this thread.
#[cfg(test)]
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

/// Whether a bug is switched on. A constant `false` outside of tests.
#[cfg(test)]
macro_rules! planted {
    ($bug:ident) => {
        crate::planted::is_active(crate::planted::Planted::$bug)
    };
}

#[cfg(not(test))]
macro_rules! planted {
    ($bug:ident) => {
        false
    };
}
