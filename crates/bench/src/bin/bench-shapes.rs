//! Prints what packed informers make of collections of different shapes, in Markdown.
//!
//! The process stays on one processor, so that objects arrive in the order of the list and every
//! run trains its dictionaries from the same samples.

use anyhow::Result;
use clap::Parser;
use informer_bench::processor;
use informer_bench::shapes::{Request, report};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures packed objects of several shapes. No server is needed.
#[derive(Debug, Parser)]
struct CommandLine {
    /// The number of objects of each shape.
    #[arg(long, default_value_t = 10_000)]
    objects: usize,
    /// The seed of all random values.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> Result<()> {
    let CommandLine { objects, seed } = CommandLine::parse();
    processor::stay_on_one(0)?;
    let request = Request {
        objects,
        seed,
        revision: 0,
    };
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(report::print(request))
}
