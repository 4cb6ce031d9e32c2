//! Bugs planted on purpose, to prove that the checks of `random.rs` can fail.

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
}
