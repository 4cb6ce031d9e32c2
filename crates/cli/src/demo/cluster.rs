//! The API server of the demo, and the only hand that writes to it.
//!
//! Every write carries the time at which it was made, so that a handler can tell how late it is:
//! an annotation on what is created or changed, a note in a table for what is deleted.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use informer_factory::{Added, Cause, Deleted, Notification, ObjectKey, Updated};
use informer_testkit::{ApiServer, Rejection, Resource};
use serde_json::json;
use tokio::time::Instant;

use super::object::DemoObject;
use super::pod::{self, PodName, WRITTEN};
use crate::failure::Failure;

/// The server with its pods and nodes.
pub(super) struct Cluster {
    server: ApiServer,
    pods: u32,
    nodes: u32,
    started: Instant,
    /// When pods were deleted; a name is never used twice.
    deleted: Mutex<HashMap<String, u64>>,
    pod_version: AtomicU64,
    node_version: AtomicU64,
}

impl Cluster {
    /// An empty server that is to have so many pods.
    pub(super) fn new(pods: u32) -> Self {
        Self {
            server: ApiServer::new(),
            pods,
            nodes: (pods / 20).max(1),
            started: Instant::now(),
            deleted: Mutex::default(),
            pod_version: AtomicU64::new(0),
            node_version: AtomicU64::new(0),
        }
    }

    pub(super) fn server(&self) -> &ApiServer {
        &self.server
    }

    /// How many pods there are, but for the moment between a delete and its create.
    pub(super) fn pods(&self) -> u32 {
        self.pods
    }

    pub(super) fn nodes(&self) -> u32 {
        self.nodes
    }

    /// The version of the last write to a pod.
    pub(super) fn pod_version(&self) -> u64 {
        self.pod_version.load(Ordering::Acquire)
    }

    /// The version of the last write to a node.
    pub(super) fn node_version(&self) -> u64 {
        self.node_version.load(Ordering::Acquire)
    }

    pub(super) fn create_pod(&self, number: u32) -> Result<(), Failure> {
        let pod = pod::pod(number, self.nodes, self.now());
        let created = self
            .server
            .create(&Resource::pods(), pod)
            .map_err(refused)?;
        self.pod_version.store(created.version(), Ordering::Release);
        Ok(())
    }

    pub(super) fn update_pod(&self, pod: &PodName, count: u64) -> Result<(), Failure> {
        let patch = json!({
            "metadata": {
                "annotations": {WRITTEN: self.now().to_string()},
                "labels": {"revision": (count % 10).to_string()},
            },
            "status": {"message": format!("checked {count} times")},
        });
        let changed = self
            .server
            .patch(&Resource::pods(), &pod.namespace, &pod.name, patch);
        let version = changed.map_err(refused)?.version();
        self.pod_version.store(version, Ordering::Release);
        Ok(())
    }

    pub(super) fn delete_pod(&self, pod: &PodName) -> Result<(), Failure> {
        let (key, now) = (pod.key(), self.now());
        let mut deleted = self.deleted.lock().unwrap_or_else(PoisonError::into_inner);
        deleted.insert(key, now);
        drop(deleted);
        let gone = self
            .server
            .delete(&Resource::pods(), &pod.namespace, &pod.name);
        gone.map_err(refused)?;
        // Nobody else writes, so this is the version of the deletion.
        self.pod_version
            .store(self.server.version(), Ordering::Release);
        Ok(())
    }

    pub(super) fn create_node(&self, number: u32) -> Result<(), Failure> {
        let node = pod::node(number, self.now());
        let created = self
            .server
            .create(&Resource::nodes(), node)
            .map_err(refused)?;
        self.node_version
            .store(created.version(), Ordering::Release);
        Ok(())
    }

    pub(super) fn touch_node(&self, number: u32) -> Result<(), Failure> {
        let patch = json!({"metadata": {"annotations": {WRITTEN: self.now().to_string()}}});
        let changed = self
            .server
            .patch(&Resource::nodes(), "", &pod::node_name(number), patch);
        let version = changed.map_err(refused)?.version();
        self.node_version.store(version, Ordering::Release);
        Ok(())
    }

    /// How long ago this was written; `None` for what was there at the start, or was not seen
    /// when it happened.
    pub(super) fn lag<T: DemoObject>(
        &self,
        notification: &Notification<ObjectKey, T>,
    ) -> Option<Duration> {
        let written = match notification {
            Notification::Added(Added {
                object,
                initial: false,
                ..
            }) => object.written(),
            Notification::Updated(Updated {
                new,
                cause: Cause::Watch | Cause::Relist,
                ..
            }) => new.written(),
            Notification::Deleted(Deleted::Known { key, .. }) => {
                let deleted = self.deleted.lock().unwrap_or_else(PoisonError::into_inner);
                deleted.get(key.as_str()).copied()
            }
            Notification::Added(Added { .. })
            | Notification::Updated(Updated { .. })
            | Notification::Deleted(Deleted::Unknown { .. } | Deleted::MovedAway { .. }) => None,
        }?;
        Some(Duration::from_micros(self.now().saturating_sub(written)))
    }

    /// Microseconds since the demo began.
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what map_err hands over"
)]
fn refused(rejection: Rejection) -> Failure {
    Failure::failed(format!(
        "the demo's own server refused a write: {rejection}"
    ))
}
