//! What holds whichever way the threads of a processor take turns (T8).
//!
//! Built by `cargo xtask shuttle` only. Each scenario runs under many schedules: threads switch at
//! the primitives of `sync`, by priorities that change at random points (PCT). A hang is a failure
//! too. Handlers run on `add_blocking`'s threads; a task differs only in who polls the same loop.

mod adding;
mod delivered;
mod heard;
mod joining;
mod planted;
pub(crate) mod primitives;
mod removing;
mod resyncing;
mod stopping;
mod streaming;
mod waking;
mod world;

use shuttle::scheduler::PctScheduler;
use shuttle::{Config, FailurePersistence, Runner};

/// How often a schedule changes priorities: enough for bugs of this many ordered steps.
const DEPTH: usize = 3;

/// The same schedules in each run, so that a run that passed passes again.
const SEED: u64 = 5;

fn config(persistence: FailurePersistence) -> Config {
    let mut config = Config::new();
    config.stack_size = 0x4_0000;
    config.failure_persistence = persistence;
    config
}

/// Runs a scenario under `SCHEDULES` schedules of the seed `SEED`, or under the one in the file
/// `SCHEDULE`.
fn explore(scenario: fn()) {
    if let Ok(file) = std::env::var("SCHEDULE") {
        return shuttle::replay_from_file(scenario, file);
    }
    let iterations = std::env::var("SCHEDULES").map_or(10_000, |count| {
        count.parse().expect("SCHEDULES is a number of schedules")
    });
    let seed = std::env::var("SEED").map_or(SEED, |seed| seed.parse().expect("SEED is a number"));
    let kept = FailurePersistence::File(Some(std::env::temp_dir()));
    let scheduler = PctScheduler::new_from_seed(seed, DEPTH, iterations);
    Runner::new(scheduler, config(kept)).run(scenario);
}
