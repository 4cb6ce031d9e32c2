//! The objects of a run: config maps that say which write made them.

use std::{fmt, sync::Arc};

use informer_factory::ObjectKey;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use crate::canary;

/// The namespaces objects are in.
pub(crate) const NAMESPACES: [&str; 3] = ["n0", "n1", "n2"];
/// How many names there are in each.
pub(crate) const NAMES: usize = 8;
/// The values of the label that selectors ask for.
pub(crate) const TIERS: [&str; 2] = ["a", "b"];
/// The values of the index.
pub(crate) const GROUPS: [&str; 4] = ["g0", "g1", "g2", "g3"];

/// What is written: `serial` tells every write from every other.
pub(crate) fn body(namespace: &str, name: &str, tier: &str, serial: u64) -> Value {
    let group = GROUPS[usize::try_from(serial % 4).unwrap_or(0)];
    let mut object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": namespace, "name": name, "labels": {"tier": tier}},
        "data": {"serial": serial.to_string(), "group": group},
    });
    canary::mark_object(&mut object);
    object
}

/// One state of one object, as somebody saw it.
#[derive(Clone)]
pub(crate) struct Sighting(pub(crate) Arc<ConfigMap>);

impl Sighting {
    pub(crate) fn uid(&self) -> &str {
        self.0.metadata.uid.as_deref().unwrap_or_default()
    }

    /// The version it says; 0 if that is no number.
    pub(crate) fn version(&self) -> u64 {
        let version = self.0.metadata.resource_version.as_deref();
        version.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Which write made it; 0 if it does not say.
    pub(crate) fn serial(&self) -> u64 {
        serial_of(&self.0)
    }

    /// How often the transform ran on it.
    pub(crate) fn transformed(&self) -> usize {
        let data = self.0.data.as_ref();
        data.and_then(|data| data.get("transformed"))
            .map_or(0, String::len)
    }

    /// The key by its own words.
    pub(crate) fn key(&self) -> String {
        let namespace = self.0.metadata.namespace.as_deref().unwrap_or_default();
        let name = self.0.metadata.name.as_deref().unwrap_or_default();
        format!("{namespace}/{name}")
    }

    /// Same identity and same content.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.uid() == other.uid()
                && self.version() == other.version()
                && self.serial() == other.serial())
    }
}

impl fmt::Debug for Sighting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}#{}", self.uid(), self.version(), self.serial())
    }
}

/// Which write made an object; 0 if it does not say.
pub(crate) fn serial_of(object: &ConfigMap) -> u64 {
    let serial = object.data.as_ref().and_then(|data| data.get("serial"));
    serial.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// What the transform does: it can be seen how often it ran.
pub(crate) fn mark_transformed(object: &mut ConfigMap) {
    let data = object.data.get_or_insert_default();
    data.entry("transformed".to_owned()).or_default().push('x');
}

/// The values of the index `group`.
pub(crate) fn group(object: &ConfigMap) -> Option<String> {
    object.data.as_ref()?.get("group").cloned()
}

/// A key and what is there.
pub(crate) type Held = (ObjectKey, Sighting);
