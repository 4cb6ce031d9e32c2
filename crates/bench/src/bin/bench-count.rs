//! Runs one operation so many times, for whoever counts its instructions.
//!
//! The allocator is written in Rust and locked like everything else, so that a count does not
//! depend on the system's. The process stays on one processor, so that the reflector decodes in
//! place and not on as many threads as a machine has processors.

use anyhow::{Context, Result};
use clap::Parser;
use dlmalloc::GlobalDlmalloc;
use informer_bench::parts::{self, pods::Pods};
use informer_bench::processor;

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
    processor::stay_on_one(command_line.processor)?;
    let part = parts::find(&name).with_context(|| format!("there is no part {name}"))?;
    let pods = Pods::decode(command_line.objects);
    // All are there before the first is run, so that twice as many runs find the same heap.
    let operations = (0..part.seeds).map(|_| (part.prepare)(&pods));
    for mut operation in operations.collect::<Vec<_>>() {
        operation(command_line.times / part.seeds);
    }
    Ok(())
}
