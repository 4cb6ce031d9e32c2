//! Lists in protobuf, in parts that a fault can change.

use bytes::Bytes;
use informer_kube_protobuf::{Schema, seal, to_vec};
use serde_json::{Value, json};

use super::{
    Damage, message,
    message::{bytes_field, first_field},
    schema_of,
};
use crate::{Listing, Resource, wire::Form};

/// A list: its type, and the messages in it.
pub(crate) struct List {
    api_version: String,
    kind: String,
    metadata: Vec<u8>,
    items: Vec<Bytes>,
    has_magic: bool,
}

impl List {
    pub(crate) fn of(listing: &Listing, resource: &Resource, form: Form) -> Self {
        let (api_version, kind) = form.type_of(resource);
        let items = listing.items.iter();
        Self {
            api_version,
            kind: format!("{kind}List"),
            metadata: metadata(&listing.metadata()),
            items: items.map(|item| item.message(resource, form)).collect(),
            has_magic: true,
        }
    }

    /// A list that is given as JSON, because a fault has changed it.
    pub(crate) fn of_json(list: &Value, resource: &Resource, form: Form) -> Self {
        let text = |name: &str| list[name].as_str().unwrap_or_default().to_owned();
        let items = list["items"].as_array().into_iter().flatten();
        let schema = schema_of(resource, form);
        let message = |item| schema.map_or_else(Vec::new, |schema| message(schema, item));
        Self {
            api_version: text("apiVersion"),
            kind: text("kind"),
            metadata: metadata(&list["metadata"]),
            items: items.map(|item| Bytes::from(message(item))).collect(),
            has_magic: true,
        }
    }

    /// Damages the list, or its first item.
    pub(crate) fn damage(&mut self, damage: Damage) {
        self.has_magic &= damage != Damage::Magic;
        if let Some(first) = self.items.first_mut() {
            *first = Bytes::from(damage.message(first));
        }
    }

    /// The body of the answer.
    pub(crate) fn write(&self) -> Vec<u8> {
        let size: usize = self.items.iter().map(|item| item.len() + 8).sum();
        let mut list = Vec::with_capacity(size + self.metadata.len() + 8);
        bytes_field(&mut list, 1, &self.metadata);
        for item in &self.items {
            bytes_field(&mut list, 2, item);
        }
        let mut body = seal(&self.api_version, &self.kind, &list);
        if !self.has_magic {
            super::damage::spoil_magic(&mut body);
        }
        body
    }
}

/// The message of a list's metadata, which is the same for all kinds of lists.
fn metadata(metadata: &Value) -> Vec<u8> {
    let schema = Schema::of("meta.k8s.io/v1", "PartialObjectMetadataList");
    let list = schema.and_then(|schema| to_vec(schema, &json!({"metadata": metadata})).ok());
    let list = list.unwrap_or_default();
    first_field(&list).map_or_else(Vec::new, |(metadata, _)| metadata.to_vec())
}
