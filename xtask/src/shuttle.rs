//! `cargo xtask shuttle`: the threads of the crates that have some, in thousands of orders.
//!
//! The unit tests are built with `--cfg shuttle`, which puts shuttle's primitives in the place of
//! std's in the crate that is tested, and in no other: the code asks for `test`, too.

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::built::Built;
use crate::checkout;
use crate::debug_build;
use crate::proof_build;
use crate::shell::run_watched;

/// The crates whose threads meet, and which have a module `shuttle`.
const PACKAGES: [&str; 4] = [
    "informer-store",
    "informer-deltafifo",
    "informer-processor",
    "informer-factory",
];

/// The module of the scenarios.
const SCENARIOS: &str = "tests::shuttle::";

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct ShuttleCommand {
    /// Only the scenarios with this in their path.
    name: Option<String>,
    /// How many schedules each scenario is run under (T8).
    #[arg(long, default_value_t = 10_000)]
    schedules: u64,
    /// The seed that schedules are drawn from; each program has its own by default.
    #[arg(long)]
    seed: Option<u64>,
    /// Instead, the one schedule in this file, which a failing scenario has named.
    #[arg(long, requires = "name")]
    replay: Option<PathBuf>,
}

impl ShuttleCommand {
    /// All scenarios under so many schedules, which are other ones at each call.
    pub(crate) fn sample(schedules: u64) -> Self {
        let seed = RandomState::new().hash_one(schedules);
        Self {
            name: None,
            schedules,
            seed: Some(seed),
            replay: None,
        }
    }
}

/// Runs the scenarios; fails with the first crate in which one does not hold.
pub(crate) fn run(command: &ShuttleCommand) -> Result<()> {
    let name = command.name.as_deref().unwrap_or(SCENARIOS);
    let mut scenarios = 0;
    for package in PACKAGES {
        let mut build = debug_build::build_unit_tests(package);
        proof_build::open(&mut build)?;
        let built = Built::by(&mut build)?;
        let mut test = built.unit_tests(package)?;
        test.current_dir(checkout::root())
            .arg(name)
            .env("SCHEDULES", command.schedules.to_string());
        if let Some(seed) = command.seed {
            test.env("SEED", seed.to_string());
        }
        if let Some(file) = &command.replay {
            let file = file.canonicalize().context("there is no such schedule")?;
            test.env("SCHEDULE", file);
        }
        run_watched(&mut test, |line| {
            scenarios += usize::from(line.ends_with(" ... ok"));
        })
        .with_context(|| {
            let name = "NAME_OF_THE_TEST";
            format!("replay it: cargo xtask shuttle {name} --replay FILE_NAMED_ABOVE")
        })?;
    }
    if scenarios == 0 {
        bail!("no scenario has {name:?} in its path");
    }
    println!("shuttle: {scenarios} scenarios and planted bugs");
    if let Some(seed) = command.seed {
        println!("the seed of the scenarios: {seed}");
    }
    Ok(())
}
