//! Bugs of the shell, each found by a scenario: one that cannot fail shows nothing.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::scheduler::PctScheduler;
use shuttle::{FailurePersistence, Runner};

use super::{DEPTH, SEED, closing, config, filling};

/// The bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// Who has to wait takes a place after the look that told so, not in it.
    PlaceTakenTooLate,
    /// Those who wait are asked for before the change they wait for is made.
    WakersTakenFirst,
    /// Room that was seen is taken to be there still.
    RoomSeenEarly,
    /// A lease is forgotten first, and then settled.
    GuardForgottenFirst,
}

thread_local! {
    static ACTIVE: Cell<Option<Planted>> = const { Cell::new(None) };
}

pub(crate) fn is_planted(bug: Planted) -> bool {
    ACTIVE.get() == Some(bug)
}

/// Whether the scenario fails under one of the schedules `explore` would run.
fn finds(bug: Planted, scenario: fn()) -> bool {
    let scheduler = PctScheduler::new_from_seed(SEED, DEPTH, 10_000);
    let runner = Runner::new(scheduler, config(FailurePersistence::None));
    ACTIVE.set(Some(bug));
    let found = catch_unwind(AssertUnwindSafe(|| runner.run(scenario))).is_err();
    ACTIVE.set(None);
    found
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
