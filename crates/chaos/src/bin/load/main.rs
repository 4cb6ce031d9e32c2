//! The rows L1 to L5 and M3 to M5 of the specification, each in a process of its own, with its
//! figures: `cargo run --release -p informer-chaos --bin load -- l1 m4`, or all without a name.
//!
//! L4 and D2 are tests of the facade.

mod hostile;
mod lags;
mod layers;
#[path = "../../resident.rs"]
mod resident;
mod served;
mod steady;

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};
use informer_factory::WireFormat;

/// One row.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Row {
    /// 150,000 pods and 5,000 nodes in one process, with indexes, right after a relist.
    L1,
    /// 10,000 events a second, 10 handlers: lags and losses.
    L2,
    /// 100,000 events at once: no reconnect, and the queue's bound kept.
    L3,
    /// 10,000,000 keys created and deleted: memory is that of the most that lived at a time.
    L5,
    /// A blocked handler, 1,000 keys of 2 KiB, 1,000,000 updates.
    M3,
    /// An object of 1.5 MiB that is hundreds of megabytes when decoded.
    M4,
    /// The same in protobuf.
    M4Protobuf,
    /// A line of 1 GiB.
    M5,
    /// A frame of 1 GiB.
    M5Protobuf,
}

#[derive(Debug, Parser)]
struct Arguments {
    /// Which; without any, all, each in a process of its own.
    rows: Vec<Row>,
    /// For how long L2 lasts; the specification says 600.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
}

fn main() -> ExitCode {
    let Arguments { rows, seconds } = Arguments::parse();
    let result = match rows[..] {
        [row] => run(row, seconds),
        [] => each(Row::value_variants(), seconds),
        _ => each(&rows, seconds),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("FAILED: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn each(rows: &[Row], seconds: u64) -> Result<()> {
    let mut failed = 0;
    for row in rows {
        let name = row.to_possible_value().context("every row has a name")?;
        let mut again = Command::new(std::env::current_exe()?);
        again.args([name.get_name(), "--seconds", &seconds.to_string()]);
        failed += i32::from(!again.status()?.success());
    }
    ensure!(failed == 0, "{failed} rows");
    Ok(())
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn run(row: Row, seconds: u64) -> Result<()> {
    match row {
        Row::L1 => served::many_objects().await,
        Row::L2 => steady::steady(seconds).await,
        Row::L3 => served::burst().await,
        Row::L5 => layers::churn(),
        Row::M3 => layers::blocked().await,
        Row::M4 => hostile::object(WireFormat::Json).await,
        Row::M4Protobuf => hostile::object(WireFormat::Protobuf).await,
        Row::M5 => hostile::event(WireFormat::Json).await,
        Row::M5Protobuf => hostile::event(WireFormat::Protobuf).await,
    }
}
