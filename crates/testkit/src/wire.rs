//! How lists and watch events are written, and read back where a fault has changed them.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::{EventKind, Listing, Object, Rejection, Resource};

/// How much of an object is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    #[default]
    Whole,
    /// `as=PartialObjectMetadata`
    Metadata,
}

/// One line of a watch.
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
    /// A line that a fault has changed, without its end.
    Raw(Bytes),
    /// What is left of a line when the connection breaks.
    Cut(Bytes),
}

impl Frame {
    /// Appends the line with its end.
    pub(crate) fn write(&self, out: &mut Vec<u8>, resource: &Resource, form: Form) {
        match self {
            Self::Event { kind, object } => {
                write_head(out, kind.as_str());
                match form {
                    Form::Whole => out.extend_from_slice(&object.bytes()),
                    Form::Metadata => object.write_partial(out),
                }
            }
            Self::Bookmark {
                version,
                ends_initial,
            } => {
                write_head(out, "BOOKMARK");
                let bookmark = bookmark(resource, form, *version, *ends_initial);
                out.extend_from_slice(bookmark.to_string().as_bytes());
            }
            Self::Error(rejection) => {
                write_head(out, "ERROR");
                out.extend_from_slice(rejection.to_json().to_string().as_bytes());
            }
            Self::Raw(line) => {
                out.extend_from_slice(line);
                out.push(b'\n');
                return;
            }
            Self::Cut(rest) => {
                out.extend_from_slice(rest);
                return;
            }
        }
        out.extend_from_slice(b"}\n");
    }

    /// The line as a value, for a fault to change it.
    pub(crate) fn to_json(&self, resource: &Resource, form: Form) -> Value {
        let mut line = Vec::new();
        self.write(&mut line, resource, form);
        serde_json::from_slice(&line).unwrap_or_default()
    }
}

fn write_head(out: &mut Vec<u8>, kind: &str) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",\"object\":");
}

fn bookmark(resource: &Resource, form: Form, version: u64, ends_initial: bool) -> Value {
    let (kind, api_version) = match form {
        Form::Whole => (resource.kind.clone(), resource.api_version()),
        Form::Metadata => (
            "PartialObjectMetadata".to_owned(),
            "meta.k8s.io/v1".to_owned(),
        ),
    };
    let mut metadata = json!({"resourceVersion": version.to_string(), "creationTimestamp": null});
    if ends_initial {
        metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    }
    json!({"kind": kind, "apiVersion": api_version, "metadata": metadata})
}

impl Listing {
    /// The body of a list.
    pub(crate) fn write(&self, resource: &Resource, form: Form) -> Vec<u8> {
        let (kind, api_version) = match form {
            Form::Whole => (format!("{}List", resource.kind), resource.api_version()),
            Form::Metadata => ("PartialObjectMetadataList".into(), "meta.k8s.io/v1".into()),
        };
        let mut metadata = json!({"resourceVersion": self.version.to_string()});
        if let Some(token) = &self.continue_token {
            metadata["continue"] = json!(token);
        }
        if let Some(remaining) = self.remaining {
            metadata["remainingItemCount"] = json!(remaining);
        }
        let size: usize = self.items.iter().map(|item| item.bytes().len() + 1).sum();
        let mut out = Vec::with_capacity(size + 256);
        let head = format!(
            "{{\"kind\":{},\"apiVersion\":{},\"metadata\":{metadata},\"items\":[",
            json!(kind),
            json!(api_version)
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
