//! Runs one operation so many times, for whoever counts its instructions.
//!
//! The allocator is written in Rust and locked like everything else, so that a count does not
//! depend on the system's. Nothing here reads a clock or starts a thread.

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
}

fn main() -> Result<()> {
    let command_line = CommandLine::parse();
    let Some(name) = command_line.part else {
        for part in parts::all() {
            println!("{} {}", part.name, part.counted);
        }
        return Ok(());
    };
    let part = parts::find(&name).with_context(|| format!("there is no part {name}"))?;
    let pods = Pods::decode(command_line.objects);
    // All are there before the first is run, so that twice as many runs find the same heap.
    let operations = (0..part.seeds).map(|_| (part.prepare)(&pods));
    for mut operation in operations.collect::<Vec<_>>() {
        operation(command_line.times / part.seeds);
    }
    Ok(())
}
