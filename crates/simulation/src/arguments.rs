//! What the simulator is told on the command line.
//!
//! `cargo xtask simulate` compiles this file too, so that it checks and describes these options
//! before it builds the simulator. So nothing of the simulator may be named here.

/// The whole facade under faults, time and chance drawn from seeds.
#[derive(Clone, Debug, clap::Parser)]
pub(crate) struct Arguments {
    /// How many seeds.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) seeds: u64,
    /// The first of them.
    #[arg(long, default_value_t = 0)]
    pub(crate) from: u64,
    /// Only this one, with its whole story.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// On how many threads; by default one for each processor.
    #[arg(long)]
    pub(crate) jobs: Option<usize>,
    /// Go on after a failure, and name every seed that fails.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Every informer packed; otherwise one in ten is.
    #[arg(long)]
    pub(crate) packed: bool,
    /// Each seed twice; both runs have to be the same.
    #[arg(long)]
    pub(crate) twice: bool,
    /// Look for every planted bug until a run fails, with that many seeds at most.
    #[arg(long)]
    pub(crate) mutants: bool,
    /// Only this planted bug, with `--mutants`; with `--seed` its story.
    #[arg(long)]
    pub(crate) mutant: Option<String>,
    /// Mark the payloads, and search everything that is logged or shown for the mark (SEC-9).
    #[arg(long)]
    pub(crate) canary: bool,
}
