//! The members of an object beside its type and metadata, kept as JSON and parsed only when a
//! write touches them.
//!
//! A change of one label must not cost the parsing of a whole pod: the rest is copied as bytes.
//! All members are written by one renderer, so equal bytes mean equal values.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::merge_patch::merge_patch;

/// Names and JSON values, in the order of names.
#[derive(Clone, Default)]
pub(crate) struct Fields(Vec<(Box<str>, Bytes)>);

impl Fields {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Bytes)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    fn get(&self, name: &str) -> Option<&Bytes> {
        self.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// Sets one member; without a value it is removed.
    fn set(&mut self, name: &str, value: Option<Bytes>) {
        let place = self.0.binary_search_by(|(known, _)| (**known).cmp(name));
        match (place, value) {
            (Ok(place), Some(value)) => self.0[place].1 = value,
            (Ok(place), None) => drop(self.0.remove(place)),
            (Err(place), Some(value)) => self.0.insert(place, (name.into(), value)),
            (Err(_), None) => {}
        }
    }

    /// Merges one member of a merge patch.
    pub(crate) fn merge(&mut self, name: &str, patch: &Value) {
        if patch.is_null() {
            return self.set(name, None);
        }
        let old = self.get(name).map(|bytes| serde_json::from_slice(bytes));
        let mut value = old.and_then(Result::ok).unwrap_or(Value::Null);
        merge_patch(&mut value, patch);
        self.set(name, Some(write(&value)));
    }

    /// These members, but with the status of others.
    pub(crate) fn with_status_of(mut self, other: &Self) -> Self {
        self.set("status", other.get("status").cloned());
        self
    }

    /// Whether anything but the status differs.
    pub(crate) fn is_other_spec(&self, other: &Self) -> bool {
        let spec = |fields: &Self| {
            let mut fields = fields.0.clone();
            fields.retain(|(name, _)| &**name != "status");
            fields
        };
        spec(self) != spec(other)
    }

    /// `spec.nodeName`, if it is there and not empty.
    pub(crate) fn node(&self) -> Option<String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Spec {
            node_name: Option<String>,
        }
        let spec: Option<Spec> = serde_json::from_slice(self.get("spec")?).ok();
        spec?.node_name.filter(|name| !name.is_empty())
    }

    /// The same members, as slices of the object they were written into.
    pub(crate) fn within(&self, bytes: &Bytes, starts: &[usize]) -> Self {
        let slices = self.0.iter().zip(starts);
        let slices = slices.map(|((name, value), start)| {
            (name.clone(), bytes.slice(*start..*start + value.len()))
        });
        Self(slices.collect())
    }
}

impl From<Map<String, Value>> for Fields {
    fn from(members: Map<String, Value>) -> Self {
        let members = members.into_iter();
        let mut members: Vec<_> = members
            .map(|(name, value)| (name.into_boxed_str(), write(&value)))
            .collect();
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self(members)
    }
}

fn write(value: &Value) -> Bytes {
    Bytes::from(value.to_string())
}
