//! Planted bugs: each is one wrong decision at the place where the right one is made.
//!
//! Tests switch one on to show that the checks find it, and so does the simulator, whose build has
//! `cfg(sim)`. Other builds contain none of them. The switch belongs to the thread, so that
//! concurrent runs do not disturb each other.

use std::cell::Cell;

/// The bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
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
    /// A version nobody can use is passed over without a word (FM-54).
    UnusableIsForgotten,
    /// Who joins late is not told of what is there (FM-69).
    JoinMissesPresent,
    /// What was received counts as applied (FM-74).
    ReceivedIsApplied,
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

thread_local! {
    static ACTIVE: Cell<Option<Planted>> = const { Cell::new(None) };
}

pub(crate) fn is_active(bug: Planted) -> bool {
    ACTIVE.get() == Some(bug)
}

/// Runs `f` with a bug switched on for this thread, or with none.
pub fn with<R>(bug: impl Into<Option<Planted>>, f: impl FnOnce() -> R) -> R {
    let _before = scopeguard::guard(ACTIVE.replace(bug.into()), |before| ACTIVE.set(before));
    f()
}

/// Whether a bug is switched on. A constant `false` where there are none.
macro_rules! planted {
    ($bug:ident) => {
        crate::planted::is_active(crate::planted::Planted::$bug)
    };
}
