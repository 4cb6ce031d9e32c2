//! Planted bugs: each is one wrong decision at the place where the right one is made.
//!
//! Tests switch one on to show that the checks find it, and so does the simulator, whose build has
//! `cfg(sim)`. Other builds contain none of them. The switch belongs to the thread, so that
//! concurrent runs do not disturb each other.

use std::cell::Cell;

/// The bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// An event older than the resume version moves it back (FM-36).
    ResumeGoesBack,
    /// A list that succeeded starts the back-off over (FM-04).
    ListResetsBackoff,
    /// What was collected before a page failed is handed on (FM-10).
    InterruptedListIsComplete,
    /// The first page is taken for the list (RFX-6).
    ReplaceAfterFirstPage,
    /// The version of an initial event is resumed from (FM-38).
    InitialEventIsResumePoint,
    /// A watch that expired is opened again at the same version.
    ExpiredWatchIsReopened,
    /// The version of an emission counts as received before the sink has taken it (RFX-2).
    EmittedIsReceived,
    /// That the resume version was refused is forgotten before a list succeeds (RFX-5).
    RefusalIsForgotten,
    /// A watch that closes early is reopened as if it had lived (FM-21).
    EarlyCloseIsHealthy,
    /// An event that could not be read moves the resume version past it (FM-30).
    BrokenEventIsReceived,
    /// A failed page is asked for again without a word (RFX-13).
    FailureIsHidden,
    /// Of two items with one key the last is taken, whatever its version (FM-07).
    LastDuplicateWins,
    /// A server older than the version asked for is believed (FM-39).
    OlderListIsBelieved,
    /// A later list may be of any age, as one before the first (FM-01).
    LaterListIsOfAnyAge,
    /// Of two items with one key the first is taken, whatever its version (FM-07).
    FirstDuplicateWins,
    /// A watch begins behind the version after the list's (FM-15).
    WatchSkipsAVersion,
    /// A silent watch is waited for without end (FM-16).
    WatchHasNoDeadline,
    /// A list of a rewound history is not a new epoch (FM-39).
    RewindIsNotTold,
    /// What left the selection is taken for changed (FM-42).
    DeletionIsAChange,
    /// Permission that is missing ends the reflector (FM-82).
    ForbiddenIsFatal,
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
