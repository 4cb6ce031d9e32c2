//! Proofs of the pure cores: each against a naive model written from the invariants' ids, by random
//! histories and by all short ones, and each shown to find planted bugs.
//!
//! The models share no code with what they judge.

#[cfg(test)]
mod checkpoints;
mod coalescing;
#[cfg(test)]
mod compress;
#[cfg(fuzzing)]
pub mod fuzzed;
#[cfg(test)]
mod gate;
mod history;
#[cfg(test)]
mod joining;
#[cfg(test)]
mod listener;
#[cfg(test)]
mod planted;
#[cfg(test)]
mod resync;
#[cfg(test)]
mod rig;
#[cfg(test)]
mod ring;
#[cfg(all(test, shuttle))]
pub(crate) mod shuttle;
#[cfg(test)]
mod sync;
#[cfg(test)]
mod user_code;
#[cfg(test)]
mod warning;

#[cfg(test)]
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// Runs a property as the proof does, with a fixed seed and without leaving files: for the proof
/// that a planted bug is found.
#[cfg(test)]
fn quiet_runner() -> TestRunner {
    TestRunner::new(Config {
        cases: 1_000,
        // That there is a failure is all that is asked.
        max_shrink_iters: 0,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..Config::default()
    })
}
