//! Defects that only a reader between two steps can see, each found by a scenario.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::scheduler::PctScheduler;
use shuttle::{FailurePersistence, Runner};

use super::{DEPTH, SEED, config, reading};
use crate::planted::{self, Planted};

/// Whether the scenario finds a defect under one of the schedules `explore` would run.
fn finds(bug: Planted, scenario: fn()) -> bool {
    let scheduler = PctScheduler::new_from_seed(SEED, DEPTH, 10_000);
    let runner = Runner::new(scheduler, config(FailurePersistence::None));
    let run = || planted::with(bug, || runner.run(scenario));
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

#[test]
fn a_torn_batch_is_found() {
    assert!(finds(Planted::BatchIsTorn, reading::snapshots));
}

#[test]
fn a_query_that_looks_twice_is_found() {
    assert!(finds(Planted::QueryLooksTwice, reading::queries));
}
