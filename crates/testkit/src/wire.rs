//! How lists and watch events are written.

use bytes::Bytes;
use informer_kube_protobuf::to_frame;
use serde_json::{Value, json};

use crate::{EventKind, Listing, Object, Rejection, Resource, protobuf};

/// How much of an object is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    #[default]
    Whole,
    /// `as=PartialObjectMetadata`
    Metadata,
}

impl Form {
    /// The `apiVersion` and the `kind` of an object in this form.
    pub(crate) fn type_of(self, resource: &Resource) -> (String, String) {
        match self {
            Self::Whole => (resource.api_version(), resource.kind.clone()),
            Self::Metadata => (
                "meta.k8s.io/v1".to_owned(),
                "PartialObjectMetadata".to_owned(),
            ),
        }
    }
}

/// How an answer is encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Json,
    Protobuf,
}

/// The form and the encoding of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) form: Form,
    pub(crate) encoding: Encoding,
}

impl Format {
    pub(crate) fn json(form: Form) -> Self {
        let encoding = Encoding::Json;
        Self { form, encoding }
    }
}

/// One event of a watch: a line of JSON, or a frame of protobuf.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    Event {
        kind: EventKind,
        object: Object,
    },
    Bookmark {
        version: u64,
        ends_initial: bool,
    },
    Error(Rejection),
    /// A whole event as JSON, which a fault has changed or an interjection has made.
    Changed(Value),
    /// Bytes that a fault has made: a line without its end, or anything in place of a frame.
    Raw(Bytes),
    /// The rest of a line or frame when the connection breaks.
    Cut(Bytes),
}

impl Frame {
    /// Appends the line with its end, or the frame with its length.
    pub(crate) fn write(&self, out: &mut Vec<u8>, resource: &Resource, format: Format) {
        match format.encoding {
            Encoding::Json => self.write_json(out, resource, format.form),
            Encoding::Protobuf => self.write_protobuf(out, resource, format.form),
        }
    }

    fn write_json(&self, out: &mut Vec<u8>, resource: &Resource, form: Form) {
        match self {
            Self::Event { kind, object } => {
                write_head(out, kind.as_str());
                match form {
                    Form::Whole => out.extend_from_slice(&object.bytes()),
                    Form::Metadata => object.write_partial(out),
                }
                out.extend_from_slice(b"}\n");
            }
            Self::Bookmark {
                version,
                ends_initial,
            } => {
                write_head(out, "BOOKMARK");
                let bookmark = bookmark(resource, form, *version, *ends_initial);
                out.extend_from_slice(bookmark.to_string().as_bytes());
                out.extend_from_slice(b"}\n");
            }
            Self::Error(rejection) => {
                write_head(out, "ERROR");
                out.extend_from_slice(rejection.to_json().to_string().as_bytes());
                out.extend_from_slice(b"}\n");
            }
            Self::Changed(event) => {
                out.extend_from_slice(event.to_string().as_bytes());
                out.push(b'\n');
            }
            Self::Raw(line) => {
                out.extend_from_slice(line);
                out.push(b'\n');
            }
            Self::Cut(rest) => out.extend_from_slice(rest),
        }
    }

    fn write_protobuf(&self, out: &mut Vec<u8>, resource: &Resource, form: Form) {
        match self {
            Self::Event { kind, object } => {
                let body = protobuf::object_body(object, resource, form);
                out.extend_from_slice(&to_frame(kind.as_str(), &body));
            }
            Self::Bookmark { .. } | Self::Error(_) | Self::Changed(_) => {
                let event = self.to_json(resource, form);
                out.extend_from_slice(&protobuf::event_frame(&event, resource, form));
            }
            Self::Raw(bytes) | Self::Cut(bytes) => out.extend_from_slice(bytes),
        }
    }

    /// The event as a value, for a fault to change it.
    pub(crate) fn to_json(&self, resource: &Resource, form: Form) -> Value {
        let mut line = Vec::new();
        self.write_json(&mut line, resource, form);
        serde_json::from_slice(&line).unwrap_or_default()
    }
}

fn write_head(out: &mut Vec<u8>, kind: &str) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",\"object\":");
}

fn bookmark(resource: &Resource, form: Form, version: u64, ends_initial: bool) -> Value {
    let (api_version, kind) = form.type_of(resource);
    let mut metadata = json!({"resourceVersion": version.to_string(), "creationTimestamp": null});
    if ends_initial {
        metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    }
    json!({"kind": kind, "apiVersion": api_version, "metadata": metadata})
}

impl Listing {
    /// The body of a list.
    pub(crate) fn write(&self, resource: &Resource, format: Format) -> Vec<u8> {
        match format.encoding {
            Encoding::Json => self.write_json(resource, format.form),
            Encoding::Protobuf => protobuf::List::of(self, resource, format.form).write(),
        }
    }

    /// The metadata of the list.
    pub(crate) fn metadata(&self) -> Value {
        let mut metadata = json!({"resourceVersion": self.version.to_string()});
        if let Some(token) = &self.continue_token {
            metadata["continue"] = json!(token);
        }
        if let Some(remaining) = self.remaining {
            metadata["remainingItemCount"] = json!(remaining);
        }
        metadata
    }

    pub(crate) fn write_json(&self, resource: &Resource, form: Form) -> Vec<u8> {
        let (api_version, kind) = form.type_of(resource);
        let size: usize = self.items.iter().map(|item| item.bytes().len() + 1).sum();
        let mut out = Vec::with_capacity(size + 256);
        let head = format!(
            "{{\"kind\":{},\"apiVersion\":{},\"metadata\":{},\"items\":[",
            json!(format!("{kind}List")),
            json!(api_version),
            self.metadata(),
        );
        out.extend_from_slice(head.as_bytes());
        for (index, item) in self.items.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            match form {
                Form::Whole if resource.built_in => item.write_untyped(&mut out),
                Form::Whole => out.extend_from_slice(&item.bytes()),
                Form::Metadata => item.write_partial(&mut out),
            }
        }
        out.extend_from_slice(b"]}\n");
        out
    }
}
