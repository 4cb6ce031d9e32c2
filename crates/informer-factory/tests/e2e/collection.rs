//! A collection as the server itself knows it: at an exact version, by key, uid and version.
//!
//! To know that an informer must be up to date, one object of the collection, the marker, is
//! touched: its new version is the version of the collection, and reaches the informer by watch.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kube_client::api::{ListParams, VersionMatch};
use kube_client::{Api, Client};
use kube_core::discovery::ApiResource;
use kube_core::{DynamicObject, Resource};
use serde_json::{Value, json};

use crate::workload::Writer;

/// The name of the marker in each namespace.
const MARKER: &str = "marker";

/// Which version of which object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) uid: String,
    pub(crate) version: u64,
}

impl Identity {
    pub(crate) fn of(object: &impl Resource) -> Self {
        let meta = object.meta();
        let version = meta.resource_version.as_deref().unwrap_or_default();
        Self::from_parts(meta.uid.as_deref().unwrap_or_default(), version)
    }

    pub(crate) fn from_parts(uid: &str, version: &str) -> Self {
        Self {
            uid: uid.to_owned(),
            version: version.parse().expect("this server's versions are numbers"),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let uid = self.uid.get(..8).unwrap_or(&self.uid);
        write!(f, "{uid}@{}", self.version)
    }
}

/// What the server said.
#[derive(Clone, Debug, Default)]
pub(crate) struct Truth {
    pub(crate) objects: BTreeMap<String, Identity>,
}

impl Truth {
    /// Tells the first differences.
    pub(crate) fn compare(&self, other: &BTreeMap<String, Identity>) -> Result<(), String> {
        if self.objects == *other {
            return Ok(());
        }
        let mut lines = Vec::new();
        for (key, truth) in &self.objects {
            match other.get(key) {
                None => lines.push(format!("{key}: missing, should be {truth}")),
                Some(found) if found != truth => {
                    lines.push(format!("{key}: is {found}, should be {truth}"));
                }
                Some(_) => {}
            }
        }
        let extra = other
            .iter()
            .filter(|(key, _)| !self.objects.contains_key(*key));
        lines.extend(extra.map(|(key, found)| format!("{key}: is {found}, should not be")));
        let count = lines.len();
        lines.truncate(8);
        Err(format!("{count} differences, among them {lines:#?}"))
    }
}

/// A resource, and how one object of it is written down.
#[derive(Clone)]
pub(crate) struct Kind {
    pub(crate) resource: ApiResource,
    /// What an object has beside its metadata.
    pub(crate) body: Value,
}

impl Kind {
    pub(crate) fn config_map() -> Self {
        Self {
            resource: ApiResource::erase::<k8s_openapi::api::core::v1::ConfigMap>(&()),
            body: json!({ "data": { "text": "x".repeat(256) } }),
        }
    }

    /// A pod that nobody will run, and that ends at once when it is deleted.
    pub(crate) fn pod() -> Self {
        let container = json!({ "name": "main", "image": "example.test/none" });
        let spec = json!({
            "containers": [container],
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": false,
        });
        Self {
            resource: ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&()),
            body: json!({ "spec": spec }),
        }
    }

    /// For messages.
    pub(crate) fn name(&self) -> &str {
        &self.resource.plural
    }
}

/// What an informer follows, asked of the server directly.
#[derive(Clone)]
pub(crate) struct Collection {
    client: Client,
    pub(crate) kind: Kind,
    selector: Option<String>,
    /// `None` stands for all namespaces.
    namespace: Option<String>,
    marker: Arc<Writer>,
    touches: Arc<AtomicU64>,
}

impl Collection {
    /// One namespace, with its marker.
    pub(crate) async fn of_namespace(client: Client, kind: Kind, namespace: &str) -> Self {
        let marker = Writer::new(client.clone(), &kind, namespace);
        marker.create(MARKER, &[]).await;
        Self {
            client,
            kind,
            selector: None,
            namespace: Some(namespace.to_owned()),
            marker: Arc::new(marker),
            touches: Arc::default(),
        }
    }

    /// Of all namespaces, with the marker where it is.
    pub(crate) fn everywhere(mut self) -> Self {
        self.namespace = None;
        self
    }

    /// Only objects with this label; the marker gets it too.
    pub(crate) async fn labelled(mut self, key: &str, value: &str) -> Self {
        self.selector = Some(format!("{key}={value}"));
        let patch = json!({ "metadata": { "labels": { key: value } } });
        self.marker.patch(MARKER, &patch).await;
        self
    }

    pub(crate) fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Touches the marker; answers with the version of the server's history after that.
    pub(crate) async fn touch(&self) -> String {
        let number = self.touches.fetch_add(1, Ordering::Relaxed);
        // Several collections may share a marker; a change that changes nothing has no version.
        let text = format!("{:p}-{number}", Arc::as_ptr(&self.touches));
        let patch = json!({ "metadata": { "annotations": { "touched": text } } });
        let marker = self.marker.patch(MARKER, &patch).await;
        let version = marker.metadata.resource_version;
        version.expect("what the server answers has a version")
    }

    /// The server's LIST at exactly this version, and the version it says it is at.
    pub(crate) async fn list_at(&self, version: &str) -> (Truth, String) {
        let resource = &self.kind.resource;
        let api: Api<DynamicObject> = match &self.namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, resource),
            None => Api::all_with(self.client.clone(), resource),
        };
        let mut params = ListParams::default()
            .at(version)
            .matching(VersionMatch::Exact);
        params.label_selector = self.selector.clone();
        let listed = api.list_metadata(&params).await;
        let listed = listed.unwrap_or_else(|error| panic!("LIST at {version} failed: {error}"));
        let keyed = listed.items.iter().map(|object| {
            let namespace = object.metadata.namespace.as_deref().unwrap_or_default();
            let name = object.metadata.name.as_deref().unwrap_or_default();
            (format!("{namespace}/{name}"), Identity::of(object))
        });
        let objects = keyed.collect();
        let version = listed.metadata.resource_version.unwrap_or_default();
        (Truth { objects }, version)
    }
}
