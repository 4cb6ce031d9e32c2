//! A handler that never returns, many updates, and the memory they cost, through the whole facade.
//!
//! `cargo run --release -p informer-factory --example stuck_handler [UPDATES]`
//!
//! 1,000 objects of 2 KiB each are changed over and over behind the back of a handler that
//! coalesces and blocks. Every update goes through an API server in memory, HTTP framing, decoding,
//! queue, store and ring; the process must not grow by more than 16 MiB (goal M3), or the exit
//! status is 1. That the server keeps some history is counted against us. Linux only: the figure is
//! read from `/proc/self/statm`. The layer alone is measured by the example `blocked_handler` of
//! `informer-processor`.

use std::process::ExitCode;
use std::sync::mpsc;
use std::time::Duration;

use informer_factory::{
    Client, Grace, ListenerConfig, Notification, ObjectKey, Overflow, SharedInformer,
    SharedInformerFactory, handler_fn,
};
use informer_testkit::{ApiServer, Resource};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;

const KEYS: usize = 1_000;
const OBJECT_BYTES: usize = 2 * 1024;
/// Updates between two looks; the informer catches up in between, so the watch is never too slow.
const ROUND: usize = 500;
/// More than a round, so that nothing is lost, and little enough not to blur the figure.
const HISTORY: usize = 2 * ROUND;
const LIMIT_BYTES: u64 = 16 * 1024 * 1024;

/// Resident memory of this process. A page is 4 KiB on the machines this is meant for.
fn resident_bytes() -> anyhow::Result<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages = statm.split_whitespace().nth(1);
    let pages: u64 = pages
        .ok_or_else(|| anyhow::anyhow!("no second field"))?
        .parse()?;
    Ok(pages * 4096)
}

/// Changes so many objects in turn, and waits until the store shows it.
async fn update(
    server: &ApiServer,
    informer: &SharedInformer<ConfigMap>,
    numbers: std::ops::Range<usize>,
) -> anyhow::Result<()> {
    for number in numbers {
        let data = json!({"data": {"value": format!("{number:0>OBJECT_BYTES$}")}});
        let name = format!("m{}", number % KEYS);
        server.patch(&Resource::config_maps(), "default", &name, data)?;
    }
    let now = server.version().into();
    Ok(informer
        .wait_for_version(&now, Duration::from_secs(60))
        .await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<ExitCode> {
    let updates = std::env::args()
        .nth(1)
        .map_or(Ok(20_000), |text| text.parse())?;
    let server = ApiServer::builder().history_limit(HISTORY).build();
    for number in 0..KEYS {
        let metadata = json!({"name": format!("m{number}")});
        server.create(&Resource::config_maps(), json!({"metadata": metadata}))?;
    }
    let factory = SharedInformerFactory::new(Client::new(server.service(), "default"));
    let informer = factory.informer::<ConfigMap>();
    let (release, gate) = mpsc::channel::<()>();
    let blocked = handler_fn(move |_: &Notification<ObjectKey, ConfigMap>| {
        // An error means that the example is over.
        gate.recv().unwrap_or_default();
    });
    let config = ListenerConfig::named("blocked").overflow(Overflow::Coalesce);
    let handler = informer.add_blocking_handler(blocked, config)?;
    factory.start()?;
    factory.wait_synced(Duration::from_secs(60)).await?;

    // Until every object has its size, and the server its history.
    for start in (0..2 * KEYS).step_by(ROUND) {
        update(&server, &informer, start..start + ROUND).await?;
    }
    let before = resident_bytes()?;
    let mut highest = before;
    for start in (0..updates).step_by(ROUND) {
        update(&server, &informer, start..updates.min(start + ROUND)).await?;
        highest = highest.max(resident_bytes()?);
    }
    let (status, growth) = (handler.status(), highest - before);
    println!(
        "{updates} updates of {KEYS} objects of {OBJECT_BYTES} B: \
         {} wait, {} merged, rss +{:.1} MiB",
        status.depth,
        status.coalesced,
        growth as f64 / (1024.0 * 1024.0),
    );
    drop(release);
    factory.shutdown(Grace::default()).await?;
    if growth > LIMIT_BYTES {
        eprintln!("more than {LIMIT_BYTES} B");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
