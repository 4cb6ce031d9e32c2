//! What the facade's tests share: an API server in memory, a factory over it, and a handler that
//! writes down what it is told.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test binary uses its own part"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer_factory::{
    Added, Deleted, Handler, Notification, ObjectKey, QueueKind, SharedInformerFactory, Updated,
};
use informer_testkit::{ApiServer, Resource};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube_client::Client;
use kube_core::Resource as _;
use serde_json::{Value, json};

/// Long under a paused clock, and never waited for in a test that passes.
pub const SOON: Duration = Duration::from_secs(120);

pub const QUEUES: [QueueKind; 2] = [QueueKind::DeltaFifo, QueueKind::InOrder];

pub fn client(server: &ApiServer) -> Client {
    Client::new(server.service(), "default")
}

pub fn factory(server: &ApiServer, queue: QueueKind) -> SharedInformerFactory {
    SharedInformerFactory::builder(client(server))
        .queue(queue)
        .seed(7)
        .build()
        .expect("legal")
}

pub fn pods() -> Resource {
    Resource::pods()
}

pub fn pod(name: &str, node: &str) -> Value {
    pod_in("default", name, node)
}

pub fn pod_in(namespace: &str, name: &str, node: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": "web"}},
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "web:1"}]},
    })
}

pub fn config_map(name: &str, data: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": "default", "name": name},
        "data": {"value": data},
    })
}

/// A handler that writes each notification as one line.
#[derive(Clone, Default)]
pub struct Recorder {
    lines: Arc<Mutex<Vec<String>>>,
    changed: Arc<tokio::sync::Notify>,
}

impl Recorder {
    pub fn lines(&self) -> Vec<String> {
        self.lines
            .lock()
            .expect("no test panics while it writes")
            .clone()
    }

    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().expect("no test panics while it writes"))
    }

    /// Waits until so many lines are there, and takes them.
    pub async fn wait(&self, count: usize) -> Vec<String> {
        let reached = async {
            loop {
                let changed = self.changed.notified();
                let mut changed = std::pin::pin!(changed);
                changed.as_mut().enable();
                if self.lines().len() >= count {
                    return;
                }
                changed.await;
            }
        };
        if tokio::time::timeout(SOON, reached).await.is_err() {
            panic!("waited for {count} lines, got {:#?}", self.lines());
        }
        self.take()
    }

    fn write(&self, line: String) {
        self.lines
            .lock()
            .expect("no test panics while it writes")
            .push(line);
        self.changed.notify_waiters();
    }
}

/// `name@version`, as the object itself says.
fn tell<K: kube_core::Resource>(object: &K) -> String {
    let meta = object.meta();
    let name = meta.name.as_deref().unwrap_or("?");
    format!("{name}@{}", meta.resource_version.as_deref().unwrap_or("?"))
}

impl<T: kube_core::Resource + Send + Sync + 'static> Handler<ObjectKey, T> for Recorder {
    fn on_add(&mut self, added: &Added<ObjectKey, T>) {
        self.write(tell_added(added));
    }

    fn on_update(&mut self, updated: &Updated<ObjectKey, T>) {
        self.write(tell_updated(updated));
    }

    fn on_delete(&mut self, deleted: &Deleted<ObjectKey, T>) {
        let line = match deleted {
            Deleted::Known { last, .. } => format!("delete {}", tell(&**last)),
            Deleted::Unknown {
                key,
                last: Some(last),
            } => {
                format!("tombstone {key} last {}", tell(&**last))
            }
            Deleted::Unknown { key, last: None } => format!("tombstone {key}"),
            Deleted::MovedAway { last, .. } => format!("moved away {}", tell(&**last)),
        };
        self.write(line);
    }
}

fn tell_added<T: kube_core::Resource>(added: &Added<ObjectKey, T>) -> String {
    let initial = if added.initial { " initial" } else { "" };
    format!("add {}{initial}", tell(&*added.object))
}

fn tell_updated<T: kube_core::Resource>(updated: &Updated<ObjectKey, T>) -> String {
    let (old, new) = (tell(&*updated.old), tell(&*updated.new));
    format!("update {old} -> {new} {:?}", updated.cause)
}

/// An event of a stream, in the same words.
pub fn tell_event<T: kube_core::Resource>(event: &Notification<ObjectKey, T>) -> String {
    match event {
        Notification::Added(added) => tell_added(added),
        Notification::Updated(updated) => tell_updated(updated),
        Notification::Deleted(deleted) => format!("delete {}", deleted.key()),
    }
}

/// Compares the store with what the server itself holds: key, uid and version.
pub fn assert_store_matches_pods(
    server: &ApiServer,
    informer: &informer_factory::SharedInformer<Pod>,
) {
    let (objects, _) = server.snapshot(&pods()).expect("pods are registered");
    let theirs: Vec<String> = objects
        .iter()
        .map(|o| {
            format!(
                "{:?}/{}@{} {}",
                o.namespace(),
                o.name(),
                o.version(),
                o.uid()
            )
        })
        .collect();
    let mut ours: Vec<String> = informer
        .lister()
        .all()
        .iter()
        .map(|pod| {
            let meta = pod.meta();
            format!(
                "{:?}/{}@{} {}",
                meta.namespace.as_deref(),
                meta.name.as_deref().unwrap_or_default(),
                meta.resource_version.as_deref().unwrap_or_default(),
                meta.uid.as_deref().unwrap_or_default()
            )
        })
        .collect();
    let mut theirs = theirs;
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs);
}

pub type Pods = informer_factory::SharedInformer<Pod>;
pub type ConfigMaps = informer_factory::SharedInformer<ConfigMap>;
