//! Every planted defect is found, and without one nothing is.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::random::steps;
use super::{Small, history::History};
use crate::planted::{self, Planted};

/// Whether random histories find a defect, be it by a wrong answer or by an assertion.
fn is_found(planted: Option<Planted>) -> bool {
    let config = Config {
        cases: 500,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(
        Config {
            max_shrink_iters: 0,
            ..config
        },
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let property = |steps: Vec<_>| {
        let run = || History::<Small>::run(&steps);
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(answer) => answer.map_err(TestCaseError::fail),
            Err(_) => Err(TestCaseError::fail("an assertion of the store fired")),
        }
    };
    planted::with(planted, || runner.run(&steps(), property)).is_err()
}

#[test]
fn every_planted_defect_is_found() {
    for planted in [
        Planted::DeleteForgetsIndex,
        Planted::UpdateKeepsOldValues,
        Planted::ReplaceIgnoresScope,
        Planted::FirstDuplicateWins,
        Planted::IndexNotFilled,
        Planted::InstallSkipsCatchUp,
        Planted::BatchIsTorn,
    ] {
        assert!(is_found(Some(planted)), "{planted:?} was not found");
    }
}

#[test]
fn the_same_histories_find_nothing_where_nothing_is_planted() {
    assert!(!is_found(None));
}
