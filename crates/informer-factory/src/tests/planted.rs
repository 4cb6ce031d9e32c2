//! Each planted bug is found by the very check that proves its absence: a proof that cannot fail
//! proves nothing.

use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};

use super::history::histories;
use super::run::check;
use crate::planted::{self, Planted};

fn holds() -> bool {
    let mut runner = TestRunner::new(Config {
        cases: 2_000,
        // That there is a failure is all that is asked.
        max_shrink_iters: 0,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..Config::default()
    });
    runner
        .run(&histories(), |history| {
            check(&history).map_err(TestCaseError::fail)
        })
        .is_ok()
}

#[test]
fn every_planted_bug_is_found() {
    for bug in [
        Planted::OlderApplied,
        Planted::UnchangedAnnounced,
        Planted::RebornAsUpdate,
        Planted::StrangerAnnounced,
        Planted::ReplaceForgetsDeletes,
        Planted::ReplaceIgnoresScope,
        Planted::OldLifeKills,
        Planted::EpochIgnored,
        Planted::StaleLookup,
        Planted::TombstoneIsEmpty,
        Planted::RefusedAnnounced,
        Planted::InitialFlagLost,
    ] {
        assert!(!planted::with(bug, holds), "{bug:?} was not found");
    }
}

/// The same check without a bug, so that what is found above is the bug.
#[test]
fn without_a_bug_the_check_holds() {
    assert!(holds());
}
