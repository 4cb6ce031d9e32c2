//! A test that cannot fail proves nothing: every planted bug is caught by the same checks.

use proptest::test_runner::{Config as Cases, TestError, TestRunner};

use super::exhaustive::all;
use super::judged::Judged;
use super::model::{Key, Mark, Value};
use super::random::ops;
use super::world::check;
use crate::InOrderQueue;
use crate::delta_fifo::DeltaFifo;

/// A bug that can be switched on in test builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// A change over a pending deletion replaces it: the deletion is never seen.
    UpdateSwallowsDelete,
    /// The same for a relist (FM-49).
    ReplacedSwallowsDelete,
    /// An object that is only in the queue gets no tombstone (FM-48).
    NoTombstoneForQueued,
    /// An object whose deletion waits gets a tombstone, too (FQ-6).
    TombstoneTwice,
    /// A key listed twice is replaced twice (FQ-8).
    ListedTwice,
    /// A relist does not see what is leased (design 6.1).
    RelistForgetsLeased,
    /// Deletion and resync do not see what is leased (design 6.1).
    LeasedIsForgotten,
    /// A resync does not see what is pending (FM-50).
    ResyncOverPending,
    /// Synced moves when the initial population is taken (FQ-9, DF-12).
    SyncedOnLease,
    /// Applied moves when a change is taken (design 6.5).
    AppliedOnLease,
    /// What failed goes to the tail (design 6.2).
    NackToTail,
    /// What came while a key was leased is lost when the key comes back (FQ-3).
    NackForgetsNewer,
    /// A relist can be taken in pieces (design 6.4).
    TornGroup,
    /// An object is transformed twice (FQ-12).
    TransformsTwice,
    /// A batch holds a key twice (RF-05).
    BatchRepeatsKey,
    /// Of a key listed twice the first object counts (FQ-8).
    FirstListedWins,
}

use Planted::*;

const IN_DELTA_FIFO: [Planted; 14] = [
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
        let verdict = check::<Q>(&ops, 3, Some(bug));
        verdict.map_err(proptest::test_runner::TestCaseError::fail)
    };
    let found = TestRunner::new_with_rng(cases, rng()).run(&ops(), property);
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
            is_caught_by_chance::<DeltaFifo<Key, Value, Mark>>(bug),
            "{bug:?} was not caught"
        );
    }
}

#[test]
fn random_histories_catch_every_planted_bug_of_the_in_order_queue() {
    for bug in IN_ORDER {
        assert!(
            is_caught_by_chance::<InOrderQueue<Key, Value, Mark>>(bug),
            "{bug:?} was not caught"
        );
    }
}

/// Five letters and two keys are enough for all but two: a list has to name a key twice, and
/// copies of a queue have no transform.
#[test]
fn short_histories_catch_every_planted_bug_of_the_delta_fifo() {
    for bug in IN_DELTA_FIFO
        .into_iter()
        .filter(|bug| ![ListedTwice, TransformsTwice].contains(bug))
    {
        let found = all::<DeltaFifo<Key, Value, Mark>>(5, Some(bug));
        assert!(found.is_err(), "{bug:?} was not caught");
    }
}
