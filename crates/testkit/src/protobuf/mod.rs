//! Objects, lists and events in protobuf, as an API server writes them.
//!
//! The encoder of `informer-kube-protobuf` writes messages from JSON. It drops members that the
//! schema lacks, as a server does. It refuses a value of a wrong type, which no server would have
//! stored but a test may: such an object is encoded without the value, and gets a field of a wrong
//! wire type instead, so that it has an identity and does not decode in protobuf either.

mod damage;
mod list;
mod message;

pub use damage::Damage;
pub(crate) use damage::damaged_frame;
pub(crate) use list::List;
pub(crate) use message::{body, message};

use informer_kube_protobuf::{Schema, seal, to_frame};
use serde_json::Value;

use crate::{Object, Resource, wire::Form};

/// How a server answers clients that accept `application/vnd.kubernetes.protobuf`.
///
/// Protobuf exists for the kinds of Kubernetes itself, and for the metadata of every kind. A client
/// that wants anything else gets the next type that it accepts, or 406.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtobufSupport {
    /// Answers in protobuf, as kube-apiserver does.
    #[default]
    Served,
    /// Answers in the next type that the client accepts, or with 406, as most aggregated API
    /// servers do.
    JsonOnly,
    /// Answers with 406 even if the client accepts JSON too, as a broken aggregated API server.
    NotAcceptable,
    /// Answers with 500 even if the client accepts JSON too, as a broken aggregated API server.
    Broken,
}

/// The schema of a resource's objects in this form. Without one there is no protobuf.
pub(crate) fn schema_of(resource: &Resource, form: Form) -> Option<Schema> {
    let (api_version, kind) = form.type_of(resource);
    Schema::of(&api_version, &kind)
}

/// The body of an object.
pub(crate) fn object_body(object: &Object, resource: &Resource, form: Form) -> Vec<u8> {
    let (api_version, kind) = form.type_of(resource);
    seal(&api_version, &kind, &object.message(resource, form))
}

/// The frame of an event that is given as JSON.
pub(crate) fn event_frame(event: &Value, resource: &Resource, form: Form) -> Vec<u8> {
    let event_type = event["type"].as_str().unwrap_or_default();
    let schema = match event_type {
        "ERROR" => Schema::of("v1", "Status"),
        _ => schema_of(resource, form),
    };
    to_frame(event_type, &body(&event["object"], schema))
}

/// A frame with these bytes as its event: their length, and the bytes.
pub(crate) fn frame_of(event: &[u8]) -> Vec<u8> {
    let length = u32::try_from(event.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], event].concat()
}
