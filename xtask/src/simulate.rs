//! `cargo xtask simulate`: builds the simulator for speed, and runs it.

use anyhow::Result;
use clap::Args;

use crate::built::Built;
use crate::fast_build;
use crate::proof_build;
use crate::shell;

/// What the simulator is told; `--help` shows what it knows.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct SimulateCommand {
    /// As the program takes it, such as `--seeds 10000` or `--seed 4711`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl SimulateCommand {
    /// So many seeds, from the first.
    pub(crate) fn seeds(seeds: u64) -> Self {
        Self {
            arguments: vec!["--seeds".to_owned(), seeds.to_string()],
        }
    }

    /// So many seeds twice: each has to be the same run again (T12).
    pub(crate) fn twice(seeds: u64) -> Self {
        Self::seeds(seeds).with("--twice")
    }

    /// Every planted bug, each with so many seeds at most.
    pub(crate) fn mutants(seeds: u64) -> Self {
        Self::seeds(seeds).with("--mutants")
    }

    /// The same, searching everything that is logged or shown for payloads (SEC-9).
    pub(crate) fn canary(seeds: u64) -> Self {
        Self::seeds(seeds).with("--canary")
    }

    fn with(mut self, option: &str) -> Self {
        self.arguments.push(option.to_owned());
        self
    }
}

/// Runs the seeds; fails with the story of the first that does not hold.
///
/// A build that has planted bugs is made where one is asked for.
pub(crate) fn run(command: &SimulateCommand) -> Result<()> {
    let mut build = fast_build::build_program("simulate", "smoke");
    if command
        .arguments
        .iter()
        .any(|one| one.starts_with("--mutant"))
    {
        proof_build::open(&mut build)?;
    }
    let mut simulate = Built::by(&mut build)?.program("simulate")?;
    shell::run(simulate.args(&command.arguments))
}
