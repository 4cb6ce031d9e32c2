//! `cargo xtask simulate`: builds the simulator for speed, and runs it.

use anyhow::Result;

use crate::built::Built;
use crate::fast_build;
use crate::proof_build;
use crate::shell;

// The simulator's own file: its options are described here without building it.
#[allow(dead_code, reason = "the simulator reads them")]
#[path = "../../crates/simulation/src/arguments.rs"]
mod arguments;

/// What `--help` prints, and what is checked before the simulator is built.
pub(crate) use arguments::Arguments;

/// The arguments of the simulator.
#[derive(Debug)]
pub(crate) struct SimulateCommand {
    /// As the program takes it, such as `--seeds 10000` or `--seed 4711`.
    arguments: Vec<String>,
}

impl SimulateCommand {
    /// The arguments of this process, which have been checked.
    pub(crate) fn from_command_line() -> Self {
        Self {
            arguments: shell::arguments_of_task(),
        }
    }

    /// The first `seeds` seeds.
    pub(crate) fn seeds(seeds: u64) -> Self {
        Self {
            arguments: vec!["--seeds".to_owned(), seeds.to_string()],
        }
    }

    /// The first `seeds` seeds, each run twice: both runs must be equal (T12).
    pub(crate) fn twice(seeds: u64) -> Self {
        Self::seeds(seeds).with("--twice")
    }

    /// Every planted bug, each with at most `seeds` seeds.
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
/// The build has planted bugs, which are off unless one is asked for, and trains dictionaries from
/// a few objects.
pub(crate) fn run(command: &SimulateCommand) -> Result<()> {
    let mut build = fast_build::build_program("simulate", "smoke");
    proof_build::open(&mut build)?;
    let mut simulate = Built::by(&mut build)?.program("simulate")?;
    shell::run(simulate.args(&command.arguments))
}
