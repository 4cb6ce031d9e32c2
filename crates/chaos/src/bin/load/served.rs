//! L1 and L3: the facade over HTTP from the API server in memory, in one process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use informer_factory::{
    Callbacks, ListenerConfig, ObjectKey, QueueKind, SharedInformer, SharedInformerFactory,
    Updated, index,
};
use informer_testkit::{ApiServer, Resource};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube_client::Config;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::lags::Lags;
use crate::resident::resident;

pub(crate) const SOON: Duration = Duration::from_secs(300);
pub(crate) const LIVE: u64 = 5_000;
const BURST: u64 = 100_000;

pub(crate) fn pod(i: u64, text: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "namespace": format!("namespace-{}", i % 100), "name": format!("pod-{i:06}"),
            "labels": { "app": format!("app-{}", i % 500) }, "annotations": { "text": text },
        },
        "spec": {
            "nodeName": format!("node-{:04}", i % 5_000),
            "containers": [{ "name": "main", "image": "example.test/image:1" }],
        },
    })
}

pub(crate) async fn serve(history: usize) -> Result<(ApiServer, SharedInformerFactory)> {
    let server = ApiServer::builder().history_limit(history).build();
    // Its task serves on when the handle is gone.
    let handle = server.serve().await?;
    let client = informer_factory::client(Config::new(handle.url.parse()?))?;
    std::mem::forget(handle);
    let builder = SharedInformerFactory::builder(client).queue(QueueKind::InOrder);
    Ok((server, builder.build()?))
}

/// Pods and nodes, so many.
fn fill(server: &ApiServer, pods: u64, nodes: u64) -> Result<()> {
    for i in 0..pods {
        server.create(&Resource::pods(), pod(i, "first"))?;
    }
    for i in 0..nodes {
        let metadata = json!({ "name": format!("node-{i:04}") });
        let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": metadata });
        server.create(&Resource::nodes(), node)?;
    }
    Ok(())
}

/// L1.
pub(crate) async fn many_objects() -> Result<()> {
    const PODS: u64 = 150_000;
    const NODES: u64 = 5_000;
    let (server, factory) = serve(1_000).await?;
    fill(&server, PODS, NODES)?;
    let before = resident()?;
    let (pods, nodes) = (factory.informer::<Pod>(), factory.informer::<Node>());
    let by_node = pods.add_index("node", index::node)?;
    let by_namespace = pods.add_index("namespace", |pod: &Pod| pod.metadata.namespace.clone())?;
    let start = Instant::now();
    factory.start()?;
    factory.wait_synced(SOON).await?;
    let synced = start.elapsed();
    let full = resident()? - before;
    server.cut_watches();
    for i in (0..PODS).step_by(10) {
        server.replace(&Resource::pods(), pod(i, "second"))?;
    }
    for i in (5..PODS).step_by(1_000) {
        let (namespace, name) = (format!("namespace-{}", i % 100), format!("pod-{i:06}"));
        server.delete(&Resource::pods(), &namespace, &name)?;
    }
    server.compact();
    let (start, version) = (Instant::now(), server.version().to_string());
    let written = server.create(&Resource::pods(), pod(PODS, "last"))?;
    let wanted = written.version().to_string();
    pods.wait_for_version(&wanted.as_str().into(), SOON).await?;
    let relisted = start.elapsed();
    let (truth, _) = server.snapshot(&Resource::pods())?;
    let stored = pods.reader().snapshot();
    let equal = truth.len() == stored.len()
        && truth.iter().all(|object| {
            let name = object.name();
            let namespace = object.namespace().unwrap_or_default();
            let entry = stored.get(format!("{namespace}/{name}"));
            entry.is_some_and(|entry| entry.version.as_number() == Some(object.version()))
        });
    let indexed = |sizes: Vec<usize>| sizes.iter().sum::<usize>() == truth.len();
    let values = by_node.values();
    let nodes_agree = indexed(
        values
            .iter()
            .map(|value| by_node.get(value).len())
            .collect(),
    );
    let values = by_namespace.values();
    let agree = indexed(
        values
            .iter()
            .map(|value| by_namespace.get(value).len())
            .collect(),
    );
    let lists = pods.status().sources[0].lists;
    println!(
        "L1: {PODS} pods and {} nodes, 2 indexes: synced in {synced:.1?}, {full:.0} MiB with \
         buffers; after {version}: {lists} lists, right {relisted:.1?} after the watch expired, \
         store equal: {equal}, indexes: {}",
        nodes.reader().len(),
        nodes_agree && agree,
    );
    ensure!(
        equal && nodes_agree && agree && lists == 2,
        "not as it must be"
    );
    Ok(())
}

/// What one handler was told.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) count: Arc<AtomicU64>,
    pub(crate) lags: Arc<Mutex<Lags>>,
}

/// Adds a handler that counts updates, and how long after it was written each came.
pub(crate) fn listen(
    informer: &SharedInformer<Pod>,
    origin: Instant,
    number: usize,
) -> Result<Told> {
    let told = Told::default();
    let (count, lags) = (Arc::clone(&told.count), Arc::clone(&told.lags));
    let handler = Callbacks::new().on_update(move |updated: &Updated<ObjectKey, Pod>| {
        count.fetch_add(1, Ordering::SeqCst);
        let annotations = updated.new.metadata.annotations.as_ref();
        let sent = annotations.and_then(|all| all.get("text")?.parse::<u64>().ok());
        let lag = sent.map(|sent| origin.elapsed().saturating_sub(Duration::from_nanos(sent)));
        let mut lags = lags.lock().unwrap_or_else(PoisonError::into_inner);
        lag.into_iter().for_each(|lag| lags.add(lag));
    });
    let config = ListenerConfig::named(format!("handler-{number}"));
    informer.add_handler_with(handler, config)?;
    Ok(told)
}

/// L3.
pub(crate) async fn burst() -> Result<()> {
    let (server, factory) = serve(2 * usize::try_from(BURST)?).await?;
    for i in 0..LIVE {
        server.create(&Resource::pods(), pod(i, "first"))?;
    }
    let informer = factory.informer::<Pod>();
    let told = listen(&informer, Instant::now(), 0)?;
    factory.start()?;
    factory.wait_synced(SOON).await?;
    let deepest = Arc::<AtomicU64>::default();
    let (looking, most) = (informer.clone(), Arc::clone(&deepest));
    let looks = tokio::spawn(async move {
        loop {
            let queued = looking.status().sources[0].queued as u64;
            most.fetch_max(queued, Ordering::SeqCst);
            sleep(Duration::from_millis(1)).await;
        }
    });
    let (before, start, mut last) = (resident()?, Instant::now(), 0);
    for i in 0..BURST {
        // Each different from the one before, or it would be no event.
        let changed = pod(i % LIVE, &format!("burst {i}"));
        last = server.replace(&Resource::pods(), changed)?.version();
    }
    let wrote = start.elapsed();
    informer
        .wait_for_version(&last.to_string().as_str().into(), SOON)
        .await?;
    while told.count.load(Ordering::SeqCst) < BURST {
        ensure!(start.elapsed() < SOON, "the handler has lost something");
        sleep(Duration::from_millis(1)).await;
    }
    let (took, grown) = (start.elapsed(), resident()? - before);
    looks.abort();
    let status = informer.status();
    let source = status.sources.first().context("there is one")?;
    let (deepest, reconnects) = (deepest.load(Ordering::SeqCst), source.reconnects());
    println!(
        "L3: {BURST} events written in {wrote:.1?}, all told after {took:.1?}; {} lists, \
         {reconnects} reconnects, at most {deepest} queued of 2000; {grown:+.0} MiB, mostly the \
         server's history",
        source.lists
    );
    ensure!(
        source.lists == 1 && reconnects == 0 && deepest <= 2_000,
        "not as it must be"
    );
    Ok(())
}
