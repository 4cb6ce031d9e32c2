//! The fields that are not decoded.
//!
//! A [`Projection`] can be compared and hashed, because it is part of the key under which informers
//! are shared. [`super`] applies it while decoding, so a dropped field is skipped
//! before it is allocated.

use std::{collections::BTreeMap, fmt};

use derive_where::derive_where;
use informer_kube_protobuf::DroppedFields;

const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Fields to skip while decoding. The default skips nothing.
///
/// The identity (namespace, name, uid, version) is read separately, so an object whose `metadata`
/// is dropped still has its key.
///
/// ```
/// use informer_kube_source::Projection;
///
/// // Managed fields and the last applied configuration, and one more field of pods.
/// let lean = Projection::lean().drop_field(["spec", "volumes"]);
/// assert_ne!(lean, Projection::lean());
/// assert_eq!(Projection::new(), Projection::default());
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Projection {
    root: Node,
}

/// A field on the way to a dropped one, or, without children, a dropped one.
///
/// Children are sorted and a dropped field has none, so equal projections are equal data.
#[derive(Clone, Default)]
#[derive_where(PartialEq, Eq, Hash)]
pub(crate) struct Node {
    children: BTreeMap<Box<str>, Node>,
    /// The children by numbers of fields, once a message was decoded.
    #[derive_where(skip(EqHashOrd))]
    fields: DroppedFields,
}

impl Projection {
    /// A projection that skips nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Skips large fields that controllers do not read: `metadata.managedFields` and the
    /// annotation `kubectl.kubernetes.io/last-applied-configuration`.
    pub fn lean() -> Self {
        Self::new().drop_path("metadata.managedFields").drop_field([
            "metadata",
            "annotations",
            LAST_APPLIED,
        ])
    }

    /// Also skips the field at this path of field names joined by dots, such as `spec.template`.
    ///
    /// Paths lead through lists: `spec.containers.env` and `spec.containers[].env` both mean the
    /// `env` of every container. An empty path changes nothing.
    #[must_use]
    pub fn drop_path(self, path: &str) -> Self {
        let fields = path.split('.').map(|field| field.trim_end_matches("[]"));
        self.drop_field(fields.filter(|field| !field.is_empty()))
    }

    /// Also skips the field at this path, for names that contain dots.
    #[must_use]
    pub fn drop_field<'f>(mut self, path: impl IntoIterator<Item = &'f str>) -> Self {
        let mut fields = path.into_iter().peekable();
        if fields.peek().is_none() {
            return self;
        }
        let mut node = &mut self.root;
        let mut is_new = true;
        for field in fields {
            // A parent is dropped already.
            if !is_new && node.children.is_empty() {
                return self;
            }
            // The root counts as new only on the way to its first child.
            is_new = !node.children.contains_key(field);
            node.fields = DroppedFields::new();
            node = node.children.entry(field.into()).or_default();
        }
        node.children.clear();
        self
    }

    /// True if nothing is skipped.
    pub fn is_empty(&self) -> bool {
        self.root.children.is_empty()
    }

    pub(crate) fn root(&self) -> &Node {
        &self.root
    }
}

impl Node {
    pub(crate) const fn new() -> Self {
        Self {
            children: BTreeMap::new(),
            fields: DroppedFields::new(),
        }
    }

    #[inline]
    pub(crate) fn child(&self, field: &str) -> Option<&Self> {
        /// So few names are compared one by one: most differ in length, and none are ordered.
        const FEW: usize = 16;
        match self.children.len() {
            0..=FEW => {
                let mut children = self.children.iter();
                let found = children.find(|(name, _)| name.as_ref() == field);
                found.map(|(_, child)| child)
            }
            _ => self.children.get(field),
        }
    }

    #[inline]
    pub(crate) fn is_dropped(&self) -> bool {
        self.children.is_empty()
    }

    pub(crate) fn fields(&self) -> &DroppedFields {
        &self.fields
    }

    /// The dropped fields below, each with its path after `prefix`.
    fn paths(&self, prefix: &str) -> Vec<String> {
        let mut paths = Vec::new();
        for (name, child) in &self.children {
            match child.is_dropped() {
                true => paths.push(format!("{prefix}{name}")),
                false => paths.extend(child.paths(&format!("{prefix}{name}."))),
            }
        }
        paths
    }
}

impl fmt::Debug for Projection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.root.paths("")).finish()
    }
}

#[cfg(test)]
mod tests {
    use informer_kube_protobuf::{Schema, to_vec};
    use serde_json::{Value, json};

    use super::*;
    use crate::decode::message;

    /// The same wish, however it was written, is the same projection.
    #[test]
    fn equal_wishes_are_equal_data() {
        let one = Projection::new().drop_path("spec.b").drop_path("spec.a");
        let two = Projection::new().drop_path("spec.a").drop_path("spec.b");
        assert_eq!(one, two);
        assert_eq!(one.root.paths(""), ["spec.a", "spec.b"]);
        let shorter = one.clone().drop_path("spec").drop_path("spec.c.d");
        assert_eq!(shorter, Projection::new().drop_path("spec"));
        assert_eq!(Projection::new().drop_path("..[]"), Projection::default());
        assert_eq!(
            Projection::new().drop_path("a[].b"),
            Projection::new().drop_path("a.b")
        );
    }

    #[test]
    fn fields_added_after_a_decode_are_dropped_too() {
        let schema = Schema::of("v1", "Pod").expect("a built-in kind");
        let pod = json!({"metadata": {"name": "web", "namespace": "team", "uid": "1"}});
        let message = to_vec(schema, &pod).expect("encodes");
        let metadata = |projection: &Projection| {
            let pod = message::decode::<Value>(schema, &message, None, projection);
            pod.expect("decodes")["metadata"].clone()
        };
        let one = Projection::new().drop_path("metadata.uid");
        assert_eq!(metadata(&one), json!({"name": "web", "namespace": "team"}));
        let two = one.clone().drop_path("metadata.name");
        assert_eq!(metadata(&two), json!({"namespace": "team"}));
        assert_eq!(metadata(&one), json!({"name": "web", "namespace": "team"}));
        let three = one.drop_path("metadata.namespace");
        assert_eq!(metadata(&three), json!({"name": "web"}));
    }

    #[test]
    fn lean_names_what_it_drops() {
        let paths = Projection::lean().root.paths("");
        let annotation = format!("metadata.annotations.{LAST_APPLIED}");
        assert_eq!(paths, [annotation.as_str(), "metadata.managedFields"]);
    }
}
