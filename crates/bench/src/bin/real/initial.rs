//! The cost of an initial state: by our informers, by kube-runtime, and by a bare request.

use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Result, ensure};
use futures::StreamExt;
use informer_bench::measure;
use informer_factory::reflector::Config as ReflectorConfig;
use informer_factory::{InformerOptions, SharedInformerFactory, WireFormat};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Api;
use kube_runtime::WatchStreamExt;
use kube_runtime::reflector;
use kube_runtime::watcher::{self, Event, watcher};

use crate::access::Access;
use crate::raw::{self, Raw};
use crate::table::{Cost, Table};

/// The namespace of the small collection.
pub(crate) const SMALL: &str = "small";

/// How long one initial state may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// How often a small collection is read, because the ticks of the clock are 10 ms.
const TURNS: usize = 40;

/// A collection, and the number of its pods.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope {
    /// The pods of all namespaces.
    All(usize),
    /// Those of the namespace [`SMALL`].
    Small(usize),
}

/// A way to an initial state.
#[derive(Clone, Copy, Debug)]
enum Way {
    Ours(WireFormat, bool),
    KubeRuntime(bool),
    Raw(Raw),
}

/// Measures every way once in each round, and prints the medians.
///
/// Each round begins with one initial state that does not count. The allocator has returned the
/// memory of the last one to the system, and in a virtual machine it takes seconds to get as much
/// again, which the first way alone would pay.
pub(crate) async fn run(access: &Access, scope: Scope, rounds: usize) -> Result<()> {
    let mut table = Table::default();
    for round in 1..=rounds {
        cost(access, scope, Way::Ours(WireFormat::Json, false)).await?;
        for (name, way) in ways() {
            let cost = cost(access, scope, way).await?;
            eprintln!("round {round}: {name}: {cost:?}");
            table.add(&name, cost);
        }
    }
    let (title, pods) = match scope {
        Scope::All(pods) => ("all namespaces", pods),
        Scope::Small(pods) => (SMALL, pods),
    };
    table.print(&format!("initial state, {title}, {pods} pods"));
    Ok(())
}

fn ways() -> Vec<(String, Way)> {
    let mut ways = vec![
        (
            "ours, protobuf list".to_owned(),
            Way::Ours(WireFormat::Auto, false),
        ),
        (
            "ours, protobuf watch-list".to_owned(),
            Way::Ours(WireFormat::Auto, true),
        ),
        (
            "ours, JSON list".to_owned(),
            Way::Ours(WireFormat::Json, false),
        ),
        (
            "ours, JSON watch-list".to_owned(),
            Way::Ours(WireFormat::Json, true),
        ),
        ("kube-runtime, list".to_owned(), Way::KubeRuntime(false)),
        (
            "kube-runtime, watch-list".to_owned(),
            Way::KubeRuntime(true),
        ),
    ];
    for is_protobuf in [true, false] {
        for is_streaming in [false, true] {
            for is_gzip in [false, true] {
                let raw = Raw {
                    is_protobuf,
                    is_streaming,
                    is_gzip,
                };
                let format = if is_protobuf { "protobuf" } else { "JSON" };
                let verb = if is_streaming { "watch-list" } else { "list" };
                let coding = if is_gzip { ", gzip" } else { "" };
                ways.push((format!("request, {format} {verb}{coding}"), Way::Raw(raw)));
            }
        }
    }
    ways
}

async fn cost(access: &Access, scope: Scope, way: Way) -> Result<Cost> {
    let turns = match scope {
        Scope::All(_) => 1,
        Scope::Small(_) => TURNS,
    };
    let allocated = access.server_allocated().await?;
    let before = access.server_cpu().await?;
    let (mut seconds, mut bytes) = (0.0, 0);
    for _ in 0..turns {
        let begin = measure::now();
        bytes = match way {
            Way::Ours(wire, is_streaming) => ours(access, scope, wire, is_streaming).await?,
            Way::KubeRuntime(is_streaming) => kube_runtime(access, scope, is_streaming).await?,
            Way::Raw(raw) => {
                let (bytes, encoding) = raw::read(access, &path(scope), raw).await?;
                if raw.is_gzip && encoding != "gzip" {
                    eprintln!("the server does not compress {raw:?}: {encoding}");
                }
                bytes
            }
        };
        seconds += (measure::now() - begin).as_secs_f64();
    }
    let turns = turns as f64;
    let server_cpu = (access.server_cpu().await? - before) / turns;
    let server_allocated = (access.server_allocated().await? - allocated) / turns;
    Ok(Cost {
        seconds: seconds / turns,
        server_cpu,
        server_allocated,
        bytes,
    })
}

fn path(scope: Scope) -> String {
    match scope {
        Scope::All(_) => "/api/v1/pods".to_owned(),
        Scope::Small(_) => format!("/api/v1/namespaces/{SMALL}/pods"),
    }
}

async fn ours(access: &Access, scope: Scope, wire: WireFormat, is_streaming: bool) -> Result<u64> {
    let (client, received) = access.counted()?;
    let config = ReflectorConfig::default().streaming(is_streaming);
    let factory = SharedInformerFactory::builder(client)
        .reflector(config)
        .build()?;
    let options = InformerOptions::<Pod>::new().wire(wire);
    let (options, pods) = match scope {
        Scope::All(pods) => (options, pods),
        Scope::Small(pods) => (options.namespace(SMALL), pods),
    };
    let informer = factory.informer_with(options)?;
    factory.start()?;
    informer.wait_synced(PATIENCE).await?;
    let bytes = received.load(Ordering::Relaxed);
    let stored = informer.status().objects;
    ensure!(stored == pods, "{stored} of {pods} pods are stored");
    drop((informer, factory));
    Ok(bytes)
}

async fn kube_runtime(access: &Access, scope: Scope, is_streaming: bool) -> Result<u64> {
    let (client, received) = access.counted()?;
    let config = match is_streaming {
        true => watcher::Config::default().streaming_lists(),
        false => watcher::Config::default(),
    };
    let (api, pods) = match scope {
        Scope::All(pods) => (Api::<Pod>::all(client), pods),
        Scope::Small(pods) => (Api::namespaced(client, SMALL), pods),
    };
    let (store, writer) = reflector::store();
    let mut events = std::pin::pin!(watcher(api, config).default_backoff().reflect(writer));
    let initial =
        async { while !matches!(events.next().await, Some(Ok(Event::InitDone)) | None) {} };
    tokio::time::timeout(PATIENCE, initial).await?;
    let stored = store.len();
    ensure!(stored == pods, "{stored} of {pods} pods are stored");
    Ok(received.load(Ordering::Relaxed))
}
