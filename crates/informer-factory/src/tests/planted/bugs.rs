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
    /// A relist notifies handlers of unchanged objects.
    UnchangedAnnounced,
    /// A new uid under an old name is an update, as in client-go (golden row N).
    RebornAsUpdate,
    /// Handlers are notified of the deletion of an unknown object, as in client-go (golden row K).
    StrangerAnnounced,
    /// Objects that a relist leaves out stay in the store.
    ReplaceForgetsDeletes,
    /// A relist of one namespace deletes the objects of others (FM-14).
    ReplaceIgnoresScope,
    /// A late deletion of an earlier incarnation deletes the present one.
    OldLifeKills,
    /// Versions are compared across a rewind of the server's history (FM-39).
    EpochIgnored,
    /// Earlier changes of a key in the same lease are ignored.
    StaleLookup,
    /// A tombstone has no last known state.
    TombstoneIsEmpty,
    /// Handlers are notified of an object that the store rejected.
    RefusedAnnounced,
    /// An object that was there at the start is announced as new.
    InitialFlagLost,
    /// A version that cannot be decoded is skipped without a quarantine (FM-54).
    UnusableIsForgotten,
    /// A handler added late does not receive the stored objects (FM-69).
    JoinMissesPresent,
    /// A received version counts as applied (FM-74).
    ReceivedIsApplied,
    /// The checker compares keys that the store cannot hold (IN-7).
    QuarantineCompared,
    /// The checker reports objects that changed after its list.
    PassingMatterCounts,
    /// The checker does not look for objects that the server no longer has.
    ExtraOverlooked,
    /// The checker compares versions only.
    UidOverlooked,
    /// An informer is looked up, created and registered in separate steps.
    MadeByTwo,
    /// A shutdown does not wait for a start in progress.
    EndTakesNoTurn,
    /// A stopping factory refuses new informers only after it has read which ones to stop.
    RefusedTooLate,
    /// The bytes of the object before are packed beside the identity of the next one.
    OldBytesPacked,
    /// The view of the object before is kept beside the bytes of the next one.
    OldViewKept,
    /// Objects that waited for a dictionary are never packed.
    RawTailStays,
    /// A dictionary is trained and not used.
    StaleDictionary,
    /// A dictionary is trained from JSON and from protobuf.
    WiresMixed,
    /// Handlers are notified of objects that were packed again.
    RepackNotifies,
    /// An object that was deleted while it was packed again comes back.
    RepackRevives,
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
