//! Runs one operation so many times, for whoever counts its instructions.
//!
//! The allocator is written in Rust and locked like everything else, so that a count does not
//! depend on the system's. The process stays on one processor, so that the reflector decodes in
//! place and not on as many threads as a machine has processors.

use anyhow::{Context, Result};
use clap::Parser;
use dlmalloc::GlobalDlmalloc;
use informer_bench::parts::{self, pods::Pods};

#[global_allocator]
static ALLOCATOR: GlobalDlmalloc = GlobalDlmalloc;

/// Runs one operation of `informer_bench::parts`.
#[derive(Debug, Parser)]
struct CommandLine {
    /// Which one. Without it all are listed, each with how often it is to be run.
    part: Option<String>,
    /// How often.
    #[arg(default_value_t = 0)]
    times: u64,
    /// Of how many objects.
    #[arg(long, default_value_t = 250)]
    objects: usize,
    /// On which processor, of those it may use; with as many as there are it begins anew.
    #[arg(long, default_value_t = 0)]
    processor: usize,
}

fn main() -> Result<()> {
    let command_line = CommandLine::parse();
    let Some(name) = command_line.part else {
        for part in parts::all() {
            println!("{} {}", part.name, part.counted);
        }
        return Ok(());
    };
    stay_on_one_processor(command_line.processor)?;
    let part = parts::find(&name).with_context(|| format!("there is no part {name}"))?;
    let pods = Pods::decode(command_line.objects);
    // All are there before the first is run, so that twice as many runs find the same heap.
    let operations = (0..part.seeds).map(|_| (part.prepare)(&pods));
    for mut operation in operations.collect::<Vec<_>>() {
        operation(command_line.times / part.seeds);
    }
    Ok(())
}

/// On the `turn`th of those it may use, and round again.
#[cfg(target_os = "linux")]
fn stay_on_one_processor(turn: usize) -> Result<()> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    let may_use = sched_getaffinity(None)?;
    let count = usize::try_from(may_use.count())?;
    let mut set = (0..CpuSet::MAX_CPU).filter(|processor| may_use.is_set(*processor));
    let chosen = set.nth(turn % count.max(1));
    let mut one = CpuSet::new();
    one.set(chosen.context("a process has a processor")?);
    sched_setaffinity(None, &one).context("it may use that processor")
}

/// Elsewhere nobody counts.
#[cfg(not(target_os = "linux"))]
fn stay_on_one_processor(_turn: usize) -> Result<()> {
    Ok(())
}
