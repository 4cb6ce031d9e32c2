//! What a metrics recorder receives: every gauge from the start, and what handlers are behind by.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use informer_factory::{
    AsyncHandler, Event, InformerOptions, ListenerConfig, ObjectKey, telemetry,
};
use informer_testkit::ApiServer;
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
        telemetry::QUEUE_DEPTH,
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
    assert_eq!(get(telemetry::HANDLER_BACKLOG), Some(3.0));
    let age = get(telemetry::HANDLER_OLDEST).expect("it has a backlog");
    assert!((57.0..=60.0).contains(&age), "{age}");
    assert_eq!(get(telemetry::HANDLER_PANICS), Some(0.0));
    assert_eq!(get(telemetry::HANDLER_COALESCED), Some(0.0));

    // Its callback never returns, so neither does the removal.
    assert!(registration.remove().now_or_never().is_none());
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(get(telemetry::HANDLER_BACKLOG), Some(0.0));
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
