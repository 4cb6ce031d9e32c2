//! Bugs planted on purpose, to prove that the checks of `random.rs` can fail.

use proptest::test_runner::{Config, TestRunner};

use super::random::{play, runs};

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

const ALL: [Planted; 13] = [
    Planted::ResumeGoesBack,
    Planted::ListResetsBackoff,
    Planted::InterruptedListIsComplete,
    Planted::ReplaceAfterFirstPage,
    Planted::InitialEventIsResumePoint,
    Planted::ExpiredWatchIsReopened,
    Planted::EmittedIsReceived,
    Planted::RefusalIsForgotten,
    Planted::EarlyCloseIsHealthy,
    Planted::BrokenEventIsReceived,
    Planted::FailureIsHidden,
    Planted::LastDuplicateWins,
    Planted::OlderListIsBelieved,
];

/// T5: the checks of `random.rs` catch each bug within the runs that CI makes.
#[test]
fn every_planted_bug_is_caught() {
    for bug in ALL {
        let mut runner = TestRunner::new(Config {
            cases: 10_000,
            failure_persistence: None,
            max_shrink_iters: 0,
            ..Config::default()
        });
        let caught = runner.run(&runs(), |run| {
            play(run, Some(bug));
            Ok(())
        });
        assert!(caught.is_err(), "{bug:?} was not caught");
    }
}
