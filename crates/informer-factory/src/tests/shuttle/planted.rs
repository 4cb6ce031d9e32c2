//! Each planted bug is found by a scenario: one that cannot fail shows nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::scheduler::PctScheduler;
use shuttle::{FailurePersistence, Runner};

use super::{DEPTH, SEED, asking, config, ending};
use crate::planted::{self, Planted};

/// Whether the scenario fails under one of the schedules `explore` would run.
fn finds(bug: Planted, scenario: fn()) -> bool {
    let scheduler = PctScheduler::new_from_seed(SEED, DEPTH, 10_000);
    let runner = Runner::new(scheduler, config(FailurePersistence::None));
    // All threads of a scenario are this one to the system, so that all see the switch.
    let run = || planted::with(bug, || runner.run(scenario));
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

#[test]
fn an_informer_made_by_two_is_found() {
    assert!(finds(Planted::MadeByTwo, asking::three_at_once));
}

#[test]
fn an_end_that_does_not_wait_for_a_start_is_found() {
    assert!(finds(Planted::EndTakesNoTurn, ending::start));
}

#[test]
fn a_factory_that_refuses_too_late_is_found() {
    assert!(finds(Planted::RefusedTooLate, asking::beside_an_end));
}
