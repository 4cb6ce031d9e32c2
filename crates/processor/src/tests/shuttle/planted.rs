//! Each planted bug is found by a scenario: one that cannot fail shows nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};

use shuttle::scheduler::PctScheduler;
use shuttle::{FailurePersistence, Runner};

use super::{DEPTH, SEED, adding, config, delivered, joining, removing, waking};
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
fn a_waker_that_is_left_too_late_is_found() {
    assert!(finds(Planted::WakerLeftTooLate, waking::of_a_handler));
}

#[test]
fn a_gate_that_is_looked_at_before_it_is_entered_is_found() {
    assert!(finds(Planted::GateLooksThenEnters, removing::now));
}

#[test]
fn a_removal_that_leaves_the_gate_open_is_found() {
    assert!(finds(Planted::RemovalOnlyEmpties, removing::now));
}

#[test]
fn a_wait_that_ignores_the_running_callback_is_found() {
    assert!(finds(
        Planted::CheckpointIgnoresInFlight,
        delivered::beside_a_writer
    ));
}

#[test]
fn a_list_that_is_written_back_is_found() {
    assert!(finds(Planted::ListIsWrittenBack, adding::two_at_once));
}

#[test]
fn a_stop_that_reads_the_list_first_is_found() {
    assert!(finds(Planted::StopReadsTheListFirst, adding::beside_a_stop));
}

#[test]
fn a_sync_that_reads_the_list_first_is_found() {
    assert!(finds(Planted::SyncReadsTheListFirst, joining::synced));
}

#[test]
fn a_late_join_that_keeps_the_overlap_is_found() {
    assert!(finds(Planted::JoinKeepsOverlap, joining::late_join));
}

#[test]
fn a_late_join_that_forgets_the_floor_is_found() {
    assert!(finds(Planted::JoinForgetsFloor, joining::late_join));
}

#[test]
fn initial_callbacks_that_nobody_waits_for_are_found() {
    assert!(finds(Planted::SyncForgetsStart, joining::synced));
}
