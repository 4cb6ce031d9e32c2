//! Defects that only a reader between two steps can see, each found by a scenario.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::scheduler::PctScheduler;
use shuttle::{FailurePersistence, Runner};

use super::{DEPTH, SEED, config, reading};

/// Whether the scenario fails under one of the schedules `explore` would run.
fn fails(scenario: fn()) -> bool {
    let scheduler = PctScheduler::new_from_seed(SEED, DEPTH, 10_000);
    let runner = Runner::new(scheduler, config(FailurePersistence::None));
    catch_unwind(AssertUnwindSafe(|| runner.run(scenario))).is_err()
}

#[test]
fn a_torn_batch_is_found() {
    assert!(fails(reading::torn_batches));
}

#[test]
fn a_query_that_looks_twice_is_found() {
    assert!(fails(reading::queries_that_look_twice));
}
