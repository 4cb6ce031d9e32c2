//! The formats in which the rows run, and what the server writes in each.

use http::HeaderMap;
use informer_kube_protobuf::{Schema, seal, to_frame, to_vec};
use informer_kube_source::WireFormat;
use serde_json::{Value, json};

/// What the reflector requests, and what the server can answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wire {
    /// The default is requested, and the server answers in JSON alone.
    Json,
    /// Protobuf alone is requested.
    Protobuf,
    /// The default is requested, and the server answers in protobuf where it is accepted.
    Auto,
}

impl Wire {
    /// The format that the source requests.
    pub(crate) fn requested(self) -> WireFormat {
        match self {
            Self::Json | Self::Auto => WireFormat::Auto,
            Self::Protobuf => WireFormat::Protobuf,
        }
    }

    /// The encoding of the answer to a request with these headers.
    pub(crate) fn encoding(self, headers: &HeaderMap) -> Encoding {
        let accept = headers.get("accept").and_then(|value| value.to_str().ok());
        match self {
            Self::Json => Encoding::Json,
            _ if accept.unwrap_or_default().starts_with(PROTOBUF) => Encoding::Protobuf,
            _ => Encoding::Json,
        }
    }
}

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
/// The number of bytes that a torn event lacks.
const TORN: usize = 9;

/// A pod or a `Status`.
#[derive(Clone, Debug)]
pub(crate) struct Object(Value);

impl Object {
    /// The metadata and nothing else of a pod in `default`.
    pub(crate) fn pod(name: &str, version: u64) -> Self {
        Self(json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": name, "namespace": "default",
                "uid": format!("u-{name}"), "resourceVersion": version.to_string()
            }
        }))
    }

    /// A pod that does not decode: its labels are a number.
    pub(crate) fn bad_pod(name: &str, version: u64) -> Self {
        let Self(mut pod) = Self::pod(name, version);
        pod["metadata"]["labels"] = json!(5);
        Self(pod)
    }

    /// A `Status` of a failure.
    pub(crate) fn status(code: u16, reason: &str) -> Self {
        Self(json!({
            "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
            "reason": reason, "message": "scripted", "code": code
        }))
    }

    /// The `Status` of a version that the server does not have yet.
    pub(crate) fn too_large() -> Self {
        let Self(mut status) = Self::status(504, "Timeout");
        status["message"] = json!("Too large resource version: 5");
        status["details"] = json!({"causes": [{"reason": "ResourceVersionTooLarge"}]});
        Self(status)
    }

    fn kind(&self) -> &str {
        self.0["kind"].as_str().expect("a kind")
    }

    fn message(&self) -> Vec<u8> {
        let schema = Schema::of("v1", self.kind()).expect("a built-in kind");
        let Some(labels) = self.0["metadata"].get("labels") else {
            return to_vec(schema, &self.0).expect("an object of its kind");
        };
        assert!(labels.is_number(), "labels are there to be of a wrong type");
        let mut object = self.0.clone();
        object["metadata"]["labels"] = Value::Null;
        let mut message = to_vec(schema, &object).expect("an object of its kind");
        // Protobuf has no number in place of a map: the spec gets a wrong wire type instead.
        message.extend([2 << 3 | 5, 0, 0, 0, 0]);
        message
    }
}

/// How one answer is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Encoding {
    Json,
    Protobuf,
}

impl Encoding {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => PROTOBUF,
        }
    }

    /// An object as the whole body of an answer.
    pub(crate) fn body(self, object: &Object) -> Vec<u8> {
        match self {
            Self::Json => object.0.to_string().into_bytes(),
            Self::Protobuf => seal("v1", object.kind(), &object.message()),
        }
    }

    pub(crate) fn event(self, kind: &str, object: &Object) -> Vec<u8> {
        match self {
            Self::Json => {
                let event = json!({"type": kind, "object": object.0});
                format!("{event}\n").into_bytes()
            }
            Self::Protobuf => to_frame(kind, &self.body(object)),
        }
    }

    /// An event without its last bytes, where the next event begins as if it were complete.
    pub(crate) fn torn(self, kind: &str, object: &Object) -> Vec<u8> {
        let mut event = self.event(kind, object);
        match self {
            Self::Json => {
                event.truncate(event.len() - TORN - 1);
                event.push(b'\n');
            }
            Self::Protobuf => {
                event.truncate(event.len() - TORN);
                let length = u32::try_from(event.len() - 4).expect("a short event");
                event[..4].copy_from_slice(&length.to_be_bytes());
            }
        }
        event
    }

    pub(crate) fn list(self, version: &str, items: &[Object]) -> Vec<u8> {
        let metadata = json!({"resourceVersion": version});
        let list = json!({"apiVersion": "v1", "kind": "PodList", "metadata": metadata});
        match self {
            Self::Json => {
                let mut list = list;
                list["items"] = items.iter().map(|item| item.0.clone()).collect();
                list.to_string().into_bytes()
            }
            Self::Protobuf => {
                let schema = Schema::of("v1", "PodList").expect("a built-in kind");
                let mut message = to_vec(schema, &list).expect("a list");
                for item in items {
                    let item = item.message();
                    let length = u8::try_from(item.len()).expect("a small pod");
                    assert!(length < 0x80, "a length of one byte");
                    message.extend([2 << 3 | 2, length]);
                    message.extend(item);
                }
                seal("v1", "PodList", &message)
            }
        }
    }

    /// The beginning of a list that does not go on.
    pub(crate) fn half_a_list(self) -> Vec<u8> {
        let mut list = self.list("5", &[Object::pod("a", 1)]);
        list.truncate(list.len() / 2);
        list
    }
}
