//! A test that cannot fail proves nothing: every planted bug is caught by the same checks.

use proptest::test_runner::{Config as Cases, TestError, TestRunner};

use super::exhaustive::all;
use super::judged::Judged;
use super::model::{Key, Position, Value};
use super::random::ops;
use super::world::check;
use crate::InOrderQueue;
use crate::delta_fifo::DeltaFifo;
use crate::planted::{self, Planted};

use Planted::*;

const IN_DELTA_FIFO: [Planted; 16] = [
    UpdateSwallowsDelete,
    ReplacedSwallowsDelete,
    NoTombstoneForQueued,
    TombstoneTwice,
    ListedTwice,
    RelistForgetsLeased,
    LeasedIsForgotten,
    ResyncOverPending,
    SyncedOnLease,
    AppliedOnLease,
    NackToTail,
    NackForgetsNewer,
    TornGroup,
    DeletionOutsideRelist,
    RelistBegunFirst,
    TransformsTwice,
];

const IN_ORDER: [Planted; 5] = [
    SyncedOnLease,
    AppliedOnLease,
    NackToTail,
    BatchRepeatsKey,
    FirstListedWins,
];

/// Runs the property of `random` with a bug planted: whether a counter-example was found.
fn is_caught_by_chance<Q: Judged>(bug: Planted) -> bool {
    let cases = Cases {
        cases: 2_000,
        failure_persistence: None,
        ..Cases::default()
    };
    let property = |ops: Vec<_>| {
        let verdict = check::<Q>(&ops, 3);
        verdict.map_err(proptest::test_runner::TestCaseError::fail)
    };
    let mut runner = TestRunner::new_with_rng(cases, rng());
    let found = planted::with(bug, || runner.run(&ops(), property));
    matches!(found, Err(TestError::Fail(..)))
}

/// The same bugs and the same cases in every run.
fn rng() -> proptest::test_runner::TestRng {
    use proptest::test_runner::{RngAlgorithm, TestRng};
    TestRng::deterministic_rng(RngAlgorithm::ChaCha)
}

#[test]
fn random_histories_catch_every_planted_bug_of_the_delta_fifo() {
    for bug in IN_DELTA_FIFO {
        assert!(
            is_caught_by_chance::<DeltaFifo<Key, Value, Position>>(bug),
            "{bug:?} was not caught"
        );
    }
}

#[test]
fn random_histories_catch_every_planted_bug_of_the_in_order_queue() {
    for bug in IN_ORDER {
        assert!(
            is_caught_by_chance::<InOrderQueue<Key, Value, Position>>(bug),
            "{bug:?} was not caught"
        );
    }
}

/// Five letters and two keys are enough for all but three: a list has to name a key twice, and
/// copies of a queue have no transform that could run twice or panic.
#[test]
fn short_histories_catch_every_planted_bug_of_the_delta_fifo() {
    for bug in IN_DELTA_FIFO
        .into_iter()
        .filter(|bug| ![ListedTwice, TransformsTwice, RelistBegunFirst].contains(bug))
    {
        let found = all::<DeltaFifo<Key, Value, Position>>(5, Some(bug));
        assert!(found.is_err(), "{bug:?} was not caught");
    }
}
