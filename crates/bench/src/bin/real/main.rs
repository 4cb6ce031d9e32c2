//! Measures a real API server: the cost of an initial state by format, verb and encoding, and
//! the cost of events.
//!
//! `cargo xtask bench --real` starts the server and this program. The pods come from
//! `bench-shapes --print`; the server tracks their managed fields itself.

mod access;
mod events;
mod initial;
mod load;
mod raw;
mod table;

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;

use access::Access;

/// Measures what lists, streaming lists and events cost a real API server.
#[derive(Debug, Parser)]
pub(crate) struct CommandLine {
    /// The kubeconfig of the server.
    #[arg(long)]
    kubeconfig: PathBuf,
    /// The process of the server, whose processor time is read.
    #[arg(long)]
    server_process: u32,
    /// The pods, one of a line in JSON.
    #[arg(long)]
    pods: PathBuf,
    /// How often everything is measured.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// The pods of the small collection.
    #[arg(long, default_value_t = 200)]
    small: usize,
    /// The changes of a turn, each of another pod. The server allocates 1.2 MB for a change, and
    /// a turn should allocate less than the server keeps, so that no garbage collection begins.
    #[arg(long, default_value_t = 400)]
    changes: u32,
    /// How often events are measured for each initial state, because their cost is a small
    /// difference of large ones.
    #[arg(long, default_value_t = 8)]
    turns: usize,
}

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> Result<()> {
    let line = CommandLine::parse();
    let access = Access::read(&line.kubeconfig, line.server_process).await?;
    let pods = std::fs::read_to_string(&line.pods);
    let pods = pods.with_context(|| format!("cannot read {}", line.pods.display()))?;
    let large = load::create(&access, pods.lines(), load::Into::Templates).await?;
    let small = pods.lines().take(line.small);
    let small = load::create(&access, small, load::Into::One(initial::SMALL)).await?;
    println!(
        "{large} pods in all namespaces, {small} in {}\n",
        initial::SMALL
    );
    drop(pods);
    // The collection in all namespaces has those of the small one too.
    initial::run(&access, initial::Scope::All(large + small), line.rounds).await?;
    initial::run(&access, initial::Scope::Small(small), line.rounds).await?;
    events::run(&access, line.changes, line.turns * line.rounds).await?;
    // Watches end with the process.
    std::process::exit(0);
}
