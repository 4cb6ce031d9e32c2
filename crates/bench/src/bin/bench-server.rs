//! The fixture server as a program. It says where it listens, and ends when its input does.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Parser;
use informer_bench::collection::Collection;
use informer_bench::server::{Shared, serve};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

/// Serves pods, or the metadata of a custom resource, to clients that list and watch.
#[derive(Debug, Parser)]
struct CommandLine {
    /// How many objects.
    #[arg(long, default_value_t = 10_000)]
    objects: usize,
    /// The seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The same pods in protobuf, as `bench-client-go --render` writes them.
    #[arg(long)]
    protobuf: Option<PathBuf>,
    /// Serves the metadata of widgets instead of pods, in JSON and in protobuf.
    #[arg(long, conflicts_with = "protobuf")]
    metadata: bool,
    /// The port; 0 is any that is free.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let command_line = CommandLine::parse();
    let shared = Arc::new(shared(&command_line)?);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, command_line.port));
    let listener = TcpListener::bind(address).await?;
    println!("{}", listener.local_addr()?);
    tokio::select! {
        result = serve(listener, shared) => result,
        () = input_ends() => Ok(()),
    }
}

fn shared(command_line: &CommandLine) -> Result<Shared> {
    let (seed, objects) = (command_line.seed, command_line.objects);
    if command_line.metadata {
        let json = Collection::metadata_json(seed, objects)?;
        let protobuf = Collection::metadata_protobuf(seed, objects)?;
        return Ok(Shared::new(json, Some(protobuf)));
    }
    let json = Collection::json(seed, objects)?;
    let protobuf = match &command_line.protobuf {
        Some(path) => {
            let file = std::fs::read(path).with_context(|| path.display().to_string())?;
            Some(Collection::from_frames(&file, objects)?)
        }
        None => None,
    };
    Ok(Shared::new(json, protobuf))
}

/// Whoever started us holds the other end; when they go, however they go, so do we.
async fn input_ends() {
    let mut ignored = Vec::new();
    // An input that cannot be read is over, too.
    drop(tokio::io::stdin().read_to_end(&mut ignored).await);
}
