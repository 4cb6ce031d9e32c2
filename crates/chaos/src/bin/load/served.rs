//! L1 to L3: the facade over HTTP from the API server in memory, in one process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use informer_factory::{
    Callbacks, ListenerConfig, QueueKind, SharedInformer, SharedInformerFactory, index,
};
use informer_testkit::{ApiServer, Resource};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube_client::Config;
use serde_json::{Value, json};
use tokio::time::{Instant, interval, sleep};

use crate::resident::resident;

const SOON: Duration = Duration::from_secs(300);
const HANDLERS: usize = 10;
const RATE: u64 = 10_000;
const SECONDS: u64 = 30;
const LIVE: u64 = 5_000;
const BURST: u64 = 100_000;

fn pod(i: u64, text: &str) -> Value {
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

async fn serve(history: usize) -> Result<(ApiServer, SharedInformerFactory)> {
    let server = ApiServer::builder().history_limit(history).build();
    // Its task serves on when the handle is gone.
    let handle = server.serve().await?;
    let client = informer_factory::client(Config::new(handle.url.parse()?))?;
    std::mem::forget(handle);
    let builder = SharedInformerFactory::builder(client).queue(QueueKind::InOrder);
    Ok((server, builder.build()))
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
    factory.wait_for_sync(SOON).await?;
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
            let entry = stored.get(&format!("{namespace}/{name}"));
            entry.is_some_and(|entry| *entry.version == *object.version().to_string())
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

/// When each version was written.
type Written = Arc<Mutex<Vec<(u64, Instant)>>>;

/// L2.
pub(crate) async fn steady() -> Result<()> {
    let (server, factory) = serve(200_000).await?;
    for i in 0..LIVE {
        server.create(&Resource::pods(), pod(i, "first"))?;
    }
    let (informer, origin) = (factory.informer::<Pod>(), Instant::now());
    let told: Vec<_> = (0..HANDLERS)
        .map(|number| listen(&informer, origin, number))
        .collect::<Result<_>>()?;
    factory.start()?;
    factory.wait_for_sync(SOON).await?;
    let written = Written::default();
    let sampler = tokio::spawn(sample(informer.clone(), Arc::clone(&written)));
    let (start, mut ticks) = (Instant::now(), interval(Duration::from_millis(5)));
    let (mut count, mut last) = (0, 0);
    while count < RATE * SECONDS {
        ticks.tick().await;
        let due = (start.elapsed().as_secs_f64() * RATE as f64) as u64;
        while count < due.min(RATE * SECONDS) {
            let sent = origin.elapsed().as_nanos().to_string();
            let made = server.replace(&Resource::pods(), pod(count % LIVE, &sent))?;
            last = made.version();
            let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
            written.push((last, Instant::now()));
            count += 1;
        }
    }
    let rate = count as f64 / start.elapsed().as_secs_f64();
    informer
        .wait_for_version(&last.to_string().as_str().into(), SOON)
        .await?;
    while told
        .iter()
        .any(|told| told.count.load(Ordering::SeqCst) < count)
    {
        ensure!(start.elapsed() < SOON, "a handler has lost something");
        sleep(Duration::from_millis(10)).await;
    }
    sampler.abort();
    let store = sampler_lags(&written);
    let mut handler: Vec<_> = told.iter().flat_map(Told::lags).collect();
    handler.sort_unstable();
    let reconnects = informer.status().sources[0].reconnects();
    println!(
        "L2: {count} events at {rate:.0}/s, {HANDLERS} handlers, loss 0, {reconnects} reconnects: \
         store lag p50 {} p99 {} (of 100 ms), handler lag p50 {} p99 {} max {} (of 250 ms)",
        ms(&store, 50),
        ms(&store, 99),
        ms(&handler, 50),
        ms(&handler, 99),
        ms(&handler, 100),
    );
    Ok(())
}

static STORE_LAGS: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Each millisecond: how long the oldest write that is not applied has been waiting.
async fn sample(informer: SharedInformer<Pod>, written: Written) {
    let (mut ticks, mut next) = (interval(Duration::from_millis(1)), 0);
    loop {
        ticks.tick().await;
        let applied = informer.status().sources[0].applied.clone();
        let applied: u64 = applied
            .and_then(|v| v.to_string().parse().ok())
            .unwrap_or(0);
        let written = written.lock().unwrap_or_else(PoisonError::into_inner);
        while written
            .get(next)
            .is_some_and(|(version, _)| *version <= applied)
        {
            next += 1;
        }
        let lag = written
            .get(next)
            .map_or(Duration::ZERO, |(_, at)| at.elapsed());
        let mut lags = STORE_LAGS.lock().unwrap_or_else(PoisonError::into_inner);
        lags.push(lag.as_micros() as u64);
    }
}

fn sampler_lags(_: &Written) -> Vec<u64> {
    let mut lags = STORE_LAGS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    lags.sort_unstable();
    lags
}

/// What one handler was told.
struct Told {
    count: Arc<AtomicU64>,
    lags: Arc<Mutex<Vec<u64>>>,
}

impl Told {
    fn lags(&self) -> Vec<u64> {
        self.lags
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

fn listen(informer: &SharedInformer<Pod>, origin: Instant, number: usize) -> Result<Told> {
    let told = Told {
        count: Arc::default(),
        lags: Arc::default(),
    };
    let (count, lags) = (Arc::clone(&told.count), Arc::clone(&told.lags));
    let handler = Callbacks::new().on_update(move |_: &Arc<Pod>, new: &Arc<Pod>, _| {
        count.fetch_add(1, Ordering::SeqCst);
        let annotations = new.metadata.annotations.as_ref();
        let sent = annotations.and_then(|all| all.get("text")?.parse::<u128>().ok());
        let lag = sent.map(|sent| origin.elapsed().as_nanos().saturating_sub(sent) / 1_000);
        let mut lags = lags.lock().unwrap_or_else(PoisonError::into_inner);
        lags.extend(lag.and_then(|lag| u64::try_from(lag).ok()));
    });
    let config = ListenerConfig::named(format!("handler-{number}"));
    informer.add_handler_with(handler, config)?;
    Ok(told)
}

/// In milliseconds.
fn ms(sorted_micros: &[u64], percent: usize) -> String {
    let last = sorted_micros.len().saturating_sub(1);
    let value = sorted_micros
        .get(last * percent / 100)
        .copied()
        .unwrap_or(0);
    format!("{:.1}", value as f64 / 1_000.0)
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
    factory.wait_for_sync(SOON).await?;
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
