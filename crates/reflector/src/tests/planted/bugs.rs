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
    /// A successful list resets the back-off (FM-04).
    ListResetsBackoff,
    /// The items collected before a page failed are emitted as a complete list (FM-10).
    InterruptedListIsComplete,
    /// The first page counts as the whole list (RFX-6).
    ReplaceAfterFirstPage,
    /// A watch resumes from the version of an initial event (FM-38).
    InitialEventIsResumePoint,
    /// A watch that expired is opened again at the same version.
    ExpiredWatchIsReopened,
    /// The version of an emission counts as received before the sink has taken it (RFX-2).
    EmittedIsReceived,
    /// The refusal of the resume version is forgotten before a list succeeds (RFX-5).
    RefusalIsForgotten,
    /// A watch that closes early is reopened without a delay (FM-21).
    EarlyCloseIsHealthy,
    /// An event that cannot be decoded advances the resume version (FM-30).
    BrokenEventIsReceived,
    /// A failed page is requested again without a report (RFX-13).
    FailureIsHidden,
    /// The last of two items with one key is used, whatever its version (FM-07).
    LastDuplicateWins,
    /// A list older than the requested version is accepted (FM-39).
    OlderListIsBelieved,
    /// A later list may be of any age, as the first may (FM-01).
    LaterListIsOfAnyAge,
    /// The first of two items with one key is used, whatever its version (FM-07).
    FirstDuplicateWins,
    /// A watch begins one version too late after a list (FM-15).
    WatchSkipsAVersion,
    /// A silent watch has no deadline (FM-16).
    WatchHasNoDeadline,
    /// A list of a rewound history does not begin a new epoch (FM-39).
    RewindIsNotTold,
    /// A deletion from the selection counts as a modification (FM-42).
    DeletionIsAChange,
    /// A missing permission ends the reflector (FM-82).
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
