//! `cargo xtask bench`: ours and its peers on the same bytes, interleaved and repeated, with the
//! ratio of each row of the table of targets.
//!
//! `programs` builds what is run, `host` makes memory warm or cold, `trial` runs one program once,
//! `plan` says what is run for which row, `claims` has the targets, `table` prints. `gate` counts
//! instructions, and `shapes` measures packed objects; both need no peer.

mod beside;
mod claims;
mod cold;
pub(crate) mod gate;
mod host;
mod latency;
mod machine;
mod packed;
mod plan;
mod programs;
mod protobuf;
mod real;
mod results;
mod shapes;
mod table;
mod trial;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use programs::Programs;
use results::Results;

/// How many pods, changes and repetitions.
#[derive(Clone, Debug, Args)]
pub(crate) struct BenchCommand {
    /// How many pods. 100,000, or 10,000 with --quick.
    #[arg(long)]
    objects: Option<u64>,
    /// How many changes. As many as pods unless given.
    #[arg(long)]
    events: Option<u64>,
    /// How many handlers there are where there are many.
    #[arg(long, default_value_t = 100)]
    handlers: u64,
    /// How often everything is run, except for latency (P11, PK7), which is measured seven times,
    /// or once with --quick. 3, or 1 with --quick.
    #[arg(long)]
    rounds: Option<usize>,
    /// Only these rows, such as P1,P7.
    #[arg(long, value_delimiter = ',')]
    rows: Vec<String>,
    /// The allocator of ours and of kube-runtime.
    #[arg(long, default_value = "system")]
    allocator: Allocator,
    /// Everything measured, as JSON on standard output; what happens goes to standard error.
    #[arg(long)]
    json: bool,
    /// Small and once: shows that everything runs, and says little about speed.
    #[arg(long)]
    quick: bool,
    /// Counts the instructions of single operations instead, and compares them with those that
    /// are checked in for this compiler.
    #[arg(long)]
    gate: bool,
    /// Measures packed objects of different shapes instead, without a server: 10,000 of each
    /// unless --objects says otherwise.
    #[arg(long, conflicts_with_all = ["gate", "json", "quick", "rows"])]
    shapes: bool,
    /// Measures what initial states and events cost a real API server instead: 15,000 pods
    /// unless --objects says otherwise.
    #[arg(long, conflicts_with_all = ["gate", "json", "quick", "rows", "shapes"])]
    real: bool,
    /// With --gate: writes what is counted, to be checked in.
    #[arg(long, requires = "gate")]
    record: bool,
}

/// What the programs in Rust allocate with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Allocator {
    /// The system's, as programs have it by default.
    System,
    /// mimalloc.
    Mimalloc,
}

impl Allocator {
    /// The arguments with which a program is built.
    fn features(self) -> &'static [&'static str] {
        match self {
            Self::System => &[],
            Self::Mimalloc => &["--features", "mimalloc"],
        }
    }
}

/// The sizes of one run of everything.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    objects: u64,
    events: u64,
    handlers: u64,
    rounds: usize,
    /// How often latency is measured, and for how many seconds each time.
    latency_runs: usize,
    latency_seconds: u64,
    /// For how many seconds the machine is idle before a cold trial.
    cold_seconds: u64,
}

impl BenchCommand {
    fn sizes(&self) -> Sizes {
        let (objects, rounds) = if self.quick {
            (10_000, 1)
        } else {
            (100_000, 3)
        };
        let (latency_runs, latency_seconds) = latency::protocol(self.quick);
        let objects = self.objects.unwrap_or(objects);
        Sizes {
            objects,
            events: self.events.unwrap_or(objects),
            handlers: self.handlers,
            rounds: self.rounds.unwrap_or(rounds).max(1),
            latency_runs,
            latency_seconds,
            cold_seconds: cold::idle_seconds(self.quick),
        }
    }
}

/// Builds, runs and prints.
pub(crate) fn run(command: &BenchCommand) -> Result<()> {
    if command.gate {
        return gate::gate(command.record);
    }
    if command.shapes {
        return shapes::run(command.allocator, command.objects);
    }
    if command.real {
        return real::run(command.allocator, command.objects, command.rounds);
    }
    let sizes = command.sizes();
    let trials = plan::trials(sizes, &command.rows)?;
    let programs = Programs::build(command.allocator)?;
    // Now, since the checkout may change while it runs.
    let machine = machine::describe(&programs)?;
    let mut results = Results::default();
    let workshop = tempfile::tempdir()?;
    let fixtures = trial::fixtures(&programs, &trials, workshop.path())?;
    for (round, trial) in plan::order(trials) {
        let name = trial.name;
        if let Some(why) = programs.missing(trial.program) {
            results.skip(name, why);
            continue;
        }
        match trial::run(&programs, &fixtures, &trial) {
            Ok(metrics) => {
                eprintln!("round {round}: {name}: {}", trial::summary(&metrics));
                results.add(name, metrics);
            }
            Err(error) => {
                eprintln!("round {round}: {name} FAILED: {error:#}");
                results.fail(name, format!("{error:#}"));
            }
        }
    }
    let judged = claims::judge(&results, &command.rows);
    match command.json {
        true => table::print_json(&machine, sizes, &results, &judged)?,
        false => table::print(&machine, sizes, &results, &judged),
    }
    let failures = results.failures();
    if failures > 0 {
        bail!("{failures} runs failed");
    }
    Ok(())
}
