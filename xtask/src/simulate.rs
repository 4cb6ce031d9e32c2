//! `cargo xtask simulate`: builds the simulator for speed, and runs it.

use anyhow::Result;
use clap::Args;

use crate::shell::cargo;

/// Which seeds.
#[derive(Debug, Args)]
pub(crate) struct SimulateCommand {
    /// How many seeds, after those that failed once.
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    /// The first of them.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Only this one, with its whole story.
    #[arg(long)]
    seed: Option<u64>,
    /// Go on after a failure, and name every seed that fails.
    #[arg(long)]
    keep_going: bool,
}

impl SimulateCommand {
    /// So many, from the first.
    pub(crate) fn seeds(seeds: u64) -> Self {
        Self {
            seeds,
            from: 0,
            seed: None,
            keep_going: false,
        }
    }
}

/// Runs the seeds; fails with the story of the first that does not hold.
pub(crate) fn run(command: &SimulateCommand) -> Result<()> {
    let package = ["-p", "informer-simulation", "--bin", "simulate"];
    let mut simulate = cargo(["run", "--quiet", "--release", "--locked"]);
    simulate.args(package).arg("--");
    match command.seed {
        Some(seed) => simulate.args(["--seed", &seed.to_string()]),
        None => simulate
            .args(["--from", &command.from.to_string()])
            .args(["--seeds", &command.seeds.to_string()]),
    };
    if command.keep_going {
        simulate.arg("--keep-going");
    }
    crate::shell::run(&mut simulate)
}
