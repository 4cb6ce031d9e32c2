//! Bugs of the shell, each found by a scenario: one that cannot fail shows nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::scheduler::PctScheduler;
use shuttle::{FailurePersistence, Runner};

use super::{DEPTH, SEED, closing, config, filling};
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
fn a_place_that_is_taken_too_late_is_found() {
    assert!(finds(
        Planted::PlaceTakenTooLate,
        filling::two_on_a_full_queue
    ));
}

#[test]
fn wakers_that_are_taken_first_are_found() {
    assert!(finds(
        Planted::WakersTakenFirst,
        filling::two_on_a_full_queue
    ));
}

#[test]
fn room_that_was_seen_early_is_found() {
    assert!(finds(Planted::RoomSeenEarly, filling::bounded));
}

#[test]
fn a_guard_that_is_forgotten_first_is_found() {
    assert!(finds(Planted::GuardForgottenFirst, closing::beside_a_lease));
}
