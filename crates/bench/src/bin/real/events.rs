//! The cost of events: the same writes with no watcher, and with a watcher for each node.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use informer_bench::measure;
use informer_factory::{
    Client, Handler, InformerOptions, ObjectKey, SharedInformerFactory, Updated, WireFormat,
};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Api;
use kube_client::api::ListParams;
use kube_runtime::watcher::{self, Event, watcher};
use kube_runtime::{WatchStreamExt, reflector};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::access::Access;
use crate::load::{self, NODES};
use crate::table::{Cost, Table};

/// The requests that wait for the server at a time.
const PARALLEL: usize = 8;

/// How long the initial state of a watcher may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often arrivals are counted before the rest is missing, 10 ms apart.
const LOOKS: usize = 1_000;

/// The watchers during a turn.
#[derive(Clone, Copy, Debug)]
enum Watchers {
    None,
    Ours(WireFormat),
    KubeRuntime,
}

/// No watcher is the first: the others are compared with it.
const ALL: [(&str, Watchers); 4] = [
    ("no watcher", Watchers::None),
    ("20 of ours, protobuf", Watchers::Ours(WireFormat::Auto)),
    ("20 of ours, JSON", Watchers::Ours(WireFormat::Json)),
    ("20 of kube-runtime", Watchers::KubeRuntime),
];

/// Changes the same pods once for each kind of watchers in every turn, and prints the medians.
pub(crate) async fn run(access: &Access, changes: u32, turns: usize) -> Result<()> {
    let client = access.client()?;
    let paths = paths(&client, changes).await?;
    // The first change of a pod by a manager is larger than the next ones.
    write(&client, &paths, "first").await?;
    let mut table = Table::default();
    for turn in 0..turns {
        let mut costs = [Cost::default(); ALL.len()];
        // Each kind is the first of a turn as often as the others.
        for index in (0..ALL.len()).map(|place| (turn + place) % ALL.len()) {
            let value = format!("{turn}-{index}");
            costs[index] = cost(access, &client, &paths, ALL[index].1, &value).await?;
            eprintln!("turn {turn}: {}: {:?}", ALL[index].0, costs[index]);
        }
        for (cost, (name, _)) in costs.iter().zip(ALL) {
            table.add(name, *cost);
        }
        for (cost, (name, _)) in costs.iter().zip(ALL).skip(1) {
            let above = Cost {
                seconds: cost.seconds - costs[0].seconds,
                server_cpu: cost.server_cpu - costs[0].server_cpu,
                server_allocated: cost.server_allocated - costs[0].server_allocated,
                bytes: cost.bytes,
            };
            table.add(&format!("{name}, above no watcher"), above);
        }
    }
    table.print(&format!("{changes} changes, pods of {NODES} nodes"));
    Ok(())
}

/// Returns the paths of the first pods.
async fn paths(client: &Client, pods: u32) -> Result<Vec<String>> {
    let first = ListParams::default().limit(pods);
    let listed = Api::<Pod>::all(client.clone())
        .list_metadata(&first)
        .await?;
    let paths = listed.items.into_iter().filter_map(|pod| {
        let (namespace, name) = (pod.metadata.namespace?, pod.metadata.name?);
        Some(format!(
            "/api/v1/namespaces/{namespace}/pods/{name}?fieldManager=bench"
        ))
    });
    Ok(paths.collect())
}

/// Sets an annotation of each pod. A value that it has already would be no change.
async fn write(client: &Client, paths: &[String], value: &str) -> Result<()> {
    let patch = json!({"metadata": {"annotations": {"bench/turn": value}}});
    let writes = paths
        .iter()
        .map(|path| load::send(client, "PATCH", path, &patch));
    let writes = stream::iter(writes).buffer_unordered(PARALLEL);
    writes.try_collect().await
}

async fn cost(
    access: &Access,
    client: &Client,
    paths: &[String],
    watchers: Watchers,
    value: &str,
) -> Result<Cost> {
    let (watching, received) = access.counted()?;
    let arrived = Arc::new(AtomicU64::new(0));
    let kept = start(watching, watchers, &arrived).await?;
    // A collection takes more processor time than the watchers do. None shall begin below.
    access.collect_garbage().await?;
    let allocated = access.server_allocated().await?;
    let server_cpu = access.server_cpu().await?;
    let (initial, begin) = (received.load(Ordering::Relaxed), measure::now());
    write(client, paths, value).await?;
    let expected = match watchers {
        Watchers::None => 0,
        Watchers::Ours(_) | Watchers::KubeRuntime => paths.len() as u64,
    };
    arrive(&arrived, expected).await?;
    let seconds = (measure::now() - begin).as_secs_f64();
    let server_cpu = access.server_cpu().await? - server_cpu;
    let server_allocated = access.server_allocated().await? - allocated;
    let bytes = received.load(Ordering::Relaxed) - initial;
    drop(kept);
    Ok(Cost {
        seconds,
        server_cpu,
        server_allocated,
        bytes,
    })
}

/// Waits until the watchers have received every change, and fails if they do not.
async fn arrive(arrived: &AtomicU64, expected: u64) -> Result<()> {
    for _ in 0..LOOKS {
        if arrived.load(Ordering::Relaxed) >= expected {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let arrived = arrived.load(Ordering::Relaxed);
    ensure!(
        arrived == expected,
        "{arrived} of {expected} changes arrived"
    );
    Ok(())
}

/// Watchers that run until this is dropped.
#[derive(Default)]
struct Kept {
    factory: Option<SharedInformerFactory>,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.factory.take();
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

async fn start(client: Client, watchers: Watchers, arrived: &Arc<AtomicU64>) -> Result<Kept> {
    match watchers {
        Watchers::None => Ok(Kept::default()),
        Watchers::Ours(wire) => start_ours(client, wire, arrived).await,
        Watchers::KubeRuntime => start_kube_runtime(client, arrived).await,
    }
}

async fn start_ours(client: Client, wire: WireFormat, arrived: &Arc<AtomicU64>) -> Result<Kept> {
    let factory = SharedInformerFactory::new(client);
    let mut informers = Vec::new();
    for node in 0..NODES {
        let options = InformerOptions::<Pod>::new().wire(wire);
        let informer = factory.informer_with(options.fields(selector(node)))?;
        informer.add_handler(Counter(Arc::clone(arrived)))?;
        informers.push(informer);
    }
    factory.start()?;
    for informer in &informers {
        informer.wait_synced(PATIENCE).await?;
    }
    Ok(Kept {
        factory: Some(factory),
        tasks: Vec::new(),
    })
}

async fn start_kube_runtime(client: Client, arrived: &Arc<AtomicU64>) -> Result<Kept> {
    let mut kept = Kept::default();
    for node in 0..NODES {
        let config = watcher::Config::default().fields(&selector(node));
        let events = watcher(Api::<Pod>::all(client.clone()), config).default_backoff();
        let (store, writer) = reflector::store();
        let arrived = Arc::clone(arrived);
        let counted = events.reflect(writer).for_each(move |event| {
            if matches!(event, Ok(Event::Apply(_))) {
                arrived.fetch_add(1, Ordering::Relaxed);
            }
            std::future::ready(())
        });
        kept.tasks.push(tokio::spawn(counted));
        tokio::time::timeout(PATIENCE, store.wait_until_ready()).await??;
    }
    Ok(kept)
}

fn selector(node: usize) -> String {
    format!("spec.nodeName=node-{node}")
}

/// Counts changes.
struct Counter(Arc<AtomicU64>);

impl Handler<ObjectKey, Pod> for Counter {
    fn on_update(&mut self, _: &Updated<ObjectKey, Pod>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
