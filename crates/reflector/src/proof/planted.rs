//! Bugs planted on purpose, to prove that the checks of `world.rs` can fail.

/// One bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
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
}
