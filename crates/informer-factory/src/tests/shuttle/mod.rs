//! What holds whichever way those who ask, start and end take turns (FAX-1, FAX-2, FAX-4, IN-5).
//!
//! Built by `cargo xtask shuttle` only. Each scenario runs under many schedules: threads switch at
//! the primitives of `sync`, by priorities that change at random points (PCT). The tasks of the
//! informers run on tokio's runtime for one thread, which the scenario drives: while that is in a
//! task the schedule may switch to another thread too. The server never answers.

mod asking;
mod ending;
pub(crate) mod map;
mod planted;
mod stage;
mod starting;

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
