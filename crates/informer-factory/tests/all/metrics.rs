//! The metrics that a recorder receives: sync, progress, memory, and the backlogs of handlers.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use informer_factory::{
    AsyncHandler, ChangeConsumer, ChangeConsumerConfig, Event, HandlerNotSynced, InformerOptions,
    ListenerConfig, ObjectKey, index, telemetry,
};
use informer_testkit::{ApiServer, Fault, Match, Times};
use k8s_openapi::api::core::v1::Pod;
use kube_core::discovery::ApiResource;
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString,
    Unit,
};

use crate::cluster::{QUEUES, SOON, factory, pod, pods};

/// Keeps the last value of every metric, by name and labels.
#[derive(Clone, Default)]
struct Values(Arc<Mutex<BTreeMap<String, f64>>>);

impl Values {
    fn get(&self, metric: &str) -> Option<f64> {
        let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        values.get(metric).copied()
    }

    fn handle(&self, key: &Key) -> Arc<Value> {
        let labels: Vec<_> = key
            .labels()
            .map(|l| format!("{}={}", l.key(), l.value()))
            .collect();
        let metric = format!("{}{{{}}}", key.name(), labels.join(","));
        Arc::new(Value(self.clone(), metric))
    }
}

struct Value(Values, String);

impl Value {
    fn change(&self, change: impl FnOnce(f64) -> f64) {
        let mut values = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value = values.entry(self.1.clone()).or_default();
        *value = change(*value);
    }
}

impl GaugeFn for Value {
    fn increment(&self, by: f64) {
        self.change(|value| value + by);
    }

    fn decrement(&self, by: f64) {
        self.change(|value| value - by);
    }

    fn set(&self, to: f64) {
        self.change(|_| to);
    }
}

impl CounterFn for Value {
    fn increment(&self, by: u64) {
        self.change(|value| value + by as f64);
    }

    fn absolute(&self, to: u64) {
        self.change(|_| to as f64);
    }
}

impl Recorder for Values {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.handle(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.handle(key))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

struct Stuck;

impl AsyncHandler<ObjectKey, Pod> for Stuck {
    async fn on_notification(&mut self, _: Event<Pod>) {
        pending::<()>().await;
    }
}

#[tokio::test(start_paused = true)]
async fn gauges_of_an_informer_of_nothing_are_zero() {
    let values = Values::default();
    let _recording = metrics::set_default_local_recorder(&values);
    let server = ApiServer::new();
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    informer.start().expect("a runtime");
    informer.wait_synced(SOON).await.expect("synced");
    for gauge in [
        telemetry::STORE_OBJECTS,
        telemetry::QUEUED_ITEMS,
        telemetry::QUARANTINED,
    ] {
        let value = values.get(&format!("{gauge}{{informer=pods}}"));
        assert_eq!(value, Some(0.0), "{gauge}");
    }
}

#[tokio::test(start_paused = true)]
async fn handler_that_is_behind_is_seen_by_its_name() {
    let values = Values::default();
    let _recording = metrics::set_default_local_recorder(&values);
    let server = ApiServer::new();
    for name in ["a", "b", "c"] {
        server.create(&pods(), pod(name, "n1")).expect("created");
    }
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    let added = informer.add_async_handler(Stuck, ListenerConfig::named("stuck"));
    let registration = added.expect("it runs");
    informer.start().expect("a runtime");
    informer.wait_synced(SOON).await.expect("synced");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let get = |name| values.get(&format!("{name}{{informer=pods,handler=stuck}}"));
    assert_eq!(get(telemetry::PENDING_NOTIFICATIONS), Some(3.0));
    let age = get(telemetry::HANDLER_OLDEST).expect("it has a backlog");
    assert!((57.0..=60.0).contains(&age), "{age}");
    assert_eq!(get(telemetry::HANDLER_PANICS), Some(0.0));
    assert_eq!(get(telemetry::HANDLER_COALESCED), Some(0.0));

    // An error of the wait counts the same.
    let late = registration.wait_synced(Duration::from_secs(1)).await;
    let late = late.expect_err("it is stuck");
    assert!(
        matches!(late, HandlerNotSynced::TimedOut { pending: 3, .. }),
        "{late}"
    );

    // Its callback never returns, so neither does the removal.
    assert!(registration.remove().now_or_never().is_none());
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(get(telemetry::PENDING_NOTIFICATIONS), Some(0.0));
    assert_eq!(get(telemetry::HANDLER_OLDEST), Some(0.0));
}

/// An operator finds the informer of a metric in the status, and the other way round.
#[tokio::test(start_paused = true)]
async fn label_of_the_metrics_begins_the_name_in_the_status() {
    let server = ApiServer::new();
    let factory = factory(&server, QUEUES[0]);
    let resource = ApiResource::erase::<Pod>(&());
    let metadata = factory.metadata(&resource, InformerOptions::new());
    let metadata = metadata.expect("legal").status();
    let plain = factory.informer::<Pod>().status();
    assert_eq!((&*plain.name, &*plain.label), ("pods", "pods"));
    let begin = format!("{} [", metadata.label);
    assert!(metadata.label.starts_with("pods#"));
    assert!(metadata.name.starts_with(&begin), "{}", metadata.name);
}

/// Keeps everything that is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn count(&self, part: &str) -> usize {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&log).matches(part).count()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn is_near(value: Option<f64>, wanted: f64) -> bool {
    value.is_some_and(|value| (value - wanted).abs() < 5.0)
}

#[tokio::test(start_paused = true)]
async fn sync_and_progress_are_metrics() {
    let values = Values::default();
    let _recording = metrics::set_default_local_recorder(&values);
    let get = |name| values.get(&format!("{name}{{informer=pods}}"));
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    let outage = Fault::status(503, "ServiceUnavailable", "out");
    server.fault(Match::any(), outage, Times::Once);
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    informer.start().expect("a runtime");
    assert_eq!(get(telemetry::SYNCED), Some(0.0));
    assert_eq!(get(telemetry::SYNC_SECONDS), Some(0.0));
    let started = tokio::time::Instant::now();
    informer.wait_synced(SOON).await.expect("synced");
    let took = started.elapsed().as_secs_f64();
    assert_eq!(get(telemetry::SYNCED), Some(1.0));
    assert!(is_near(get(telemetry::SYNC_SECONDS), took), "{took}");

    tokio::time::sleep(Duration::from_secs(2)).await;
    server.create(&pods(), pod("b", "n1")).expect("created");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(get(telemetry::STORE_VERSION), Some(server.version() as f64));
    // 2020 is over: the clock of the system is the one that counts.
    let timestamp = get(telemetry::LAST_PROGRESS);
    assert!(timestamp.is_some_and(|seconds| seconds > 1_577_836_800.0));
}

#[tokio::test(start_paused = true)]
async fn memory_is_estimated_and_warned_of_once() {
    let (values, log) = (Values::default(), Log::default());
    let _recording = metrics::set_default_local_recorder(&values);
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone());
    let _logging = tracing::subscriber::set_default(subscriber.finish());
    let server = ApiServer::new();
    for number in 0..100 {
        let pod = pod(&format!("pod-{number}"), "n1");
        server.create(&pods(), pod).expect("created");
    }
    let factory = factory(&server, QUEUES[0]);
    let options = InformerOptions::<Pod>::new().soft_memory_limit(50_000);
    let informer = factory.informer_with(options).expect("legal");
    informer.add_index("node", index::node).expect("the first");
    let added = informer.add_async_handler(Stuck, ListenerConfig::named("stuck"));
    added.expect("it runs");
    informer.start().expect("a runtime");
    informer.wait_synced(SOON).await.expect("synced");
    tokio::time::sleep(Duration::from_secs(5)).await;
    let memory = informer.status().memory;
    let each = memory.objects / 100;
    assert!((size_of::<Pod>()..20_000).contains(&each), "{memory:?}");
    assert!((100 * 100..100 * 400).contains(&memory.keys), "{memory:?}");
    assert!((100..100 * 200).contains(&memory.indexes), "{memory:?}");
    assert_eq!(memory.queue, 0);
    assert_eq!(memory.largest(), ("objects", memory.objects));
    let get = |part| {
        let metric = format!("{}{{informer=pods,part={part}}}", telemetry::MEMORY);
        values.get(&metric)
    };
    assert_eq!(get("objects"), Some(memory.objects as f64));
    assert_eq!(get("indexes"), Some(memory.indexes as f64));
    assert_eq!(log.count("most of it is objects"), 1);

    // Notifications that wait for the handler take memory too; it is above the limit all the time.
    for number in 0..50 {
        let pod = pod(&format!("late-{number}"), "n1");
        server.create(&pods(), pod).expect("created");
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    let handlers = informer.status().memory.handlers;
    assert!(handlers > 50 * each, "{handlers}");
    assert_eq!(get("handlers"), Some(handlers as f64));
    assert_eq!(log.count("most of it is"), 1);
}

#[tokio::test(start_paused = true)]
async fn change_consumer_has_the_metrics_of_an_informer() {
    let values = Values::default();
    let _recording = metrics::set_default_local_recorder(&values);
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    let source = Arc::new(server.source::<Pod>(&pods()).expect("registered"));
    let consumer = ChangeConsumer::new(source, ChangeConsumerConfig::named("pods"));
    let process = async |_: Event<Pod>| Ok::<(), Infallible>(());
    consumer.run(process, tokio::time::sleep(SOON)).await;
    let get = |name| values.get(&format!("{name}{{informer=pods}}"));
    assert_eq!(get(telemetry::STORE_OBJECTS), Some(1.0));
    assert_eq!(get(telemetry::SYNCED), Some(1.0));
    assert_eq!(get(telemetry::STORE_VERSION), Some(server.version() as f64));
    let objects = values.get(&format!(
        "{}{{informer=pods,part=objects}}",
        telemetry::MEMORY
    ));
    assert_eq!(objects, Some(size_of::<Pod>() as f64));
}

/// Every metric has a description and a unit for the recorder, under its own name.
#[test]
fn metrics_are_described() {
    let described = Described::default();
    metrics::with_local_recorder(&described, telemetry::describe);
    let described = described
        .0
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    assert!(described.len() >= 19, "{described:?}");
    let bytes = &described[telemetry::MEMORY];
    assert_eq!(bytes.0, Some(Unit::Bytes));
    assert!(
        bytes.1.starts_with("Estimated memory in bytes."),
        "{bytes:?}"
    );
    assert_eq!(described[telemetry::LISTS].0, Some(Unit::Count));
}

/// Keeps the descriptions of metrics.
#[derive(Default)]
struct Described(Mutex<BTreeMap<String, (Option<Unit>, String)>>);

impl Described {
    fn note(&self, name: &KeyName, unit: Option<Unit>, text: &SharedString) {
        let mut described = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = described.insert(name.as_str().to_owned(), (unit, text.to_string()));
        assert_eq!(before, None, "{name:?} is described twice");
    }
}

impl Recorder for Described {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.note(&name, unit, &text);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.note(&name, unit, &text);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.note(&name, unit, &text);
    }

    fn register_counter(&self, _: &Key, _: &Metadata<'_>) -> Counter {
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}
