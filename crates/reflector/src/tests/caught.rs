//! Every planted bug is caught by the checks of `random.rs`.

use proptest::test_runner::{Config, TestRunner};

use super::{random::runs, run::play};
use crate::planted::{self, Planted};

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
        let property = |run| {
            play(run);
            Ok(())
        };
        let caught = planted::with(bug, || runner.run(&runs(), property));
        assert!(caught.is_err(), "{bug:?} was not caught");
    }
}
