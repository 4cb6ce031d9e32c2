//! A collection as the server itself knows it: at an exact version, by key, uid and version.
//!
//! To know that an informer must be up to date, one object of the collection, the marker, is
//! touched: its new version is the version of the collection, and reaches the informer by watch.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, bail};
use kube_client::api::{ListParams, Patch, PatchParams, PostParams, VersionMatch};
use kube_client::{Api, Client, Error};
use kube_core::discovery::ApiResource;
use kube_core::{DynamicObject, Resource};
use serde_json::json;

use crate::cluster::body;

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
        Self {
            uid: meta.uid.clone().unwrap_or_default(),
            // This server's versions are numbers; what is none differs from all of them.
            version: version.parse().unwrap_or(0),
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let uid = self.uid.get(..8).unwrap_or(&self.uid);
        write!(f, "{uid}@{}", self.version)
    }
}

/// Objects by key.
pub(crate) type Objects = BTreeMap<String, Identity>;

/// Tells the first differences.
pub(crate) fn compare(truth: &Objects, found: &Objects) -> Result<()> {
    let mut lines = Vec::new();
    for (key, should) in truth {
        match found.get(key) {
            None => lines.push(format!("{key}: missing, should be {should}")),
            Some(is) if is != should => lines.push(format!("{key}: is {is}, should be {should}")),
            Some(_) => {}
        }
    }
    let extra = found.iter().filter(|(key, _)| !truth.contains_key(*key));
    lines.extend(extra.map(|(key, is)| format!("{key}: is {is}, should not be")));
    if lines.is_empty() {
        return Ok(());
    }
    let count = lines.len();
    lines.truncate(4);
    bail!("{count} differences, among them {lines:?}");
}

/// What an informer follows, or a part of it, asked of the server directly.
pub(crate) struct Collection {
    admin: Client,
    resource: ApiResource,
    /// `None` stands for all namespaces.
    pub(crate) namespace: Option<String>,
    /// Where the marker is.
    home: String,
    touches: AtomicU64,
}

impl Collection {
    /// Of one namespace.
    pub(crate) fn of_namespace(admin: Client, resource: ApiResource, namespace: &str) -> Self {
        Self {
            admin,
            resource,
            namespace: Some(namespace.to_owned()),
            home: namespace.to_owned(),
            touches: AtomicU64::new(0),
        }
    }

    /// Of all namespaces, with the marker where it is.
    pub(crate) fn everywhere(mut self) -> Self {
        self.namespace = None;
        self
    }

    /// For whoever this client is.
    pub(crate) fn api(&self, client: Client) -> Api<DynamicObject> {
        match &self.namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &self.resource),
            None => Api::all_with(client, &self.resource),
        }
    }

    /// Touches the marker; answers with the version of the server's history after that.
    pub(crate) async fn touch(&self) -> Result<String> {
        let home =
            Api::<DynamicObject>::namespaced_with(self.admin.clone(), &self.home, &self.resource);
        let number = self.touches.fetch_add(1, Ordering::Relaxed);
        // Several collections may share a marker; a change that changes nothing has no version.
        let text = format!("{:p}-{number}", &raw const self.touches);
        let patch = json!({ "metadata": { "annotations": { "touched": text } } });
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        let touched = match home.patch(MARKER, &params, &patch).await {
            Err(Error::Api(status)) if status.code == 404 => {
                let mut marker = body(&self.resource);
                marker["metadata"] = json!({ "name": MARKER });
                marker["apiVersion"] = self.resource.api_version.clone().into();
                marker["kind"] = self.resource.kind.clone().into();
                let marker = serde_json::from_value(marker)?;
                home.create(&PostParams::default(), &marker).await
            }
            answer => answer,
        };
        let touched = touched.with_context(|| format!("touching {}", self.resource.plural))?;
        let version = touched.metadata.resource_version;
        version.context("what the server answers has a version")
    }

    /// The server's LIST of metadata at exactly this version.
    pub(crate) async fn list_at(&self, version: &str) -> Result<Objects> {
        let params = ListParams::default()
            .at(version)
            .matching(VersionMatch::Exact);
        let listed = self.api(self.admin.clone()).list_metadata(&params).await?;
        if listed.metadata.resource_version.as_deref() != Some(version) {
            bail!(
                "LIST at {version} is at {:?}",
                listed.metadata.resource_version
            );
        }
        let keyed = listed.items.iter().map(|object| {
            let namespace = object.metadata.namespace.as_deref().unwrap_or_default();
            let name = object.metadata.name.as_deref().unwrap_or_default();
            (format!("{namespace}/{name}"), Identity::of(object))
        });
        Ok(keyed.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_other_or_too_much_is_told() {
        let objects = |list: &[(&str, u64)]| -> Objects {
            let identity = |version| Identity {
                uid: "u".to_owned(),
                version,
            };
            let keyed = list
                .iter()
                .map(|(key, version)| ((*key).to_owned(), identity(*version)));
            keyed.collect()
        };
        let truth = objects(&[("a", 1), ("b", 2)]);
        compare(&truth, &truth).expect("they are equal");
        for (found, told) in [
            (objects(&[("a", 1)]), "b: missing"),
            (objects(&[("a", 1), ("b", 1)]), "b: is u@1"),
            (
                objects(&[("a", 1), ("b", 2), ("c", 3)]),
                "c: is u@3, should not be",
            ),
        ] {
            let error = compare(&truth, &found).expect_err("they differ");
            assert!(error.to_string().contains(told), "{error}");
        }
    }
}
