//! The job `miri`: tests of the pure crates in an interpreter that finds undefined behaviour.
//!
//! The crates have no unsafe code, but their dependencies do: persistent vectors, hash tables,
//! atomic pointers and locks. The interpreter is hundreds of times slower than the machine, so the
//! job runs test programs of single scenarios, not the models with their thousands of histories.

use anyhow::{Result, ensure};

use crate::shell::{program, run_watched};
use crate::stopwatch::Outcome;

use super::property::passed_tests;
use super::rustup;

const TOOLCHAIN: &str = "nightly";

/// The interpreter, and the standard library that it compiles for itself.
const COMPONENTS: [&str; 2] = ["miri", "rust-src"];

/// What is compiled and run together: packages, and test programs that end within a minute each.
///
/// One command for most packages, because cargo compiles dependencies again for another choice.
const RUNS: [&[&str]; 2] = [
    &["-p=informer-object", "--lib"],
    &[
        "-p=informer-store",
        "-p=informer-deltafifo",
        "-p=informer-processor",
        "-p=informer-reflector",
        "--test=reading",
        "--test=prepared",
        "--test=channel",
        "--test=panics",
        "--test=relist",
        "--test=delivery",
        "--test=traces",
    ],
];

/// Runs them.
pub(super) fn run() -> Result<Outcome> {
    if let Err(why) = rustup::toolchain(TOOLCHAIN, &COMPONENTS) {
        return Ok(Outcome::Skipped(why));
    }
    for run in RUNS {
        let mut command = program("rustup");
        command.args(["run", TOOLCHAIN, "cargo", "miri", "test", "--locked"]);
        command.args(run).arg("--no-default-features");
        // Property tests read their seeds' file, and one history of each is enough here.
        command.env("MIRIFLAGS", "-Zmiri-disable-isolation");
        command
            .env("PROPTEST_CASES", "1")
            .env("CARGO_INCREMENTAL", "0");
        let mut programs = 0;
        run_watched(&mut command, |line| {
            programs += usize::from(passed_tests(line) > 0);
        })?;
        // A program whose tests are gone succeeds, and would prove nothing for ever.
        let expected = run.iter().filter(|word| !word.starts_with("-p")).count();
        ensure!(
            programs == expected,
            "{programs} of {expected} test programs have tests"
        );
    }
    Ok(Outcome::Passed)
}
