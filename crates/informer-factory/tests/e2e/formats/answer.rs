//! Answers of the server in one format, decoded to JSON values.

use std::collections::BTreeMap;

use futures::AsyncReadExt;
use http::Request;
use informer_kube_protobuf::{Envelope, WatchEvent, split_frame};
use kube_client::Client;
use serde_json::Value;

/// The longest event.
const MAX_FRAME: usize = 4 * 1024 * 1024;

/// The annotation of the bookmark behind the initial events.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// What the server is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Format {
    Json,
    Protobuf,
}

impl Format {
    fn accept(self, is_watch: bool) -> &'static str {
        match (self, is_watch) {
            (Self::Json, _) => "application/json",
            (Self::Protobuf, false) => "application/vnd.kubernetes.protobuf",
            (Self::Protobuf, true) => "application/vnd.kubernetes.protobuf;stream=watch",
        }
    }

    /// Decodes a complete answer, or the object of an event.
    fn decode(self, body: &[u8]) -> Result<Value, String> {
        match self {
            Self::Json => serde_json::from_slice(body).map_err(|error| error.to_string()),
            Self::Protobuf => Envelope::parse(body)
                .and_then(|envelope| envelope.decode())
                .map_err(|error| error.to_string()),
        }
    }

    /// Splits the first event off: its type and object.
    fn split_event(self, bytes: &mut Vec<u8>) -> Result<Option<(String, Value)>, String> {
        let (event, length) = match self {
            Self::Json => {
                let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                    return Ok(None);
                };
                let mut event = self.decode(&bytes[..end])?;
                let event_type = event["type"].as_str().unwrap_or_default().to_owned();
                ((event_type, event["object"].take()), end + 1)
            }
            Self::Protobuf => {
                let split = split_frame(bytes, MAX_FRAME).map_err(|error| error.to_string())?;
                let Some((frame, rest)) = split else {
                    return Ok(None);
                };
                let event = WatchEvent::parse(frame).map_err(|error| error.to_string())?;
                let object = self.decode(event.object)?;
                (
                    (event.event_type.to_owned(), object),
                    bytes.len() - rest.len(),
                )
            }
        };
        bytes.drain(..length);
        Ok(Some(event))
    }
}

/// The list of a resource.
pub(super) async fn list(client: &Client, uri: &str, format: Format) -> Result<Value, String> {
    let mut answer = open(client, uri, format.accept(false)).await?;
    let mut body = Vec::new();
    let read = answer.read_to_end(&mut body).await;
    read.map_err(|error| error.to_string())?;
    format.decode(&body)
}

/// The initial events of a watch: the objects, and the bookmark behind them.
pub(super) struct Watched {
    /// By uid and version.
    pub(super) objects: BTreeMap<(String, String), Value>,
    /// Without its version.
    pub(super) bookmark: Value,
}

/// Watches a resource until the initial events end.
pub(super) async fn watch(client: &Client, path: &str, format: Format) -> Result<Watched, String> {
    let uri = format!(
        "{path}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan\
         &allowWatchBookmarks=true&timeoutSeconds=60"
    );
    let mut answer = open(client, &uri, format.accept(true)).await?;
    let (mut bytes, mut piece) = (Vec::new(), vec![0; 64 * 1024]);
    let mut objects = BTreeMap::new();
    loop {
        while let Some((event_type, mut object)) = format.split_event(&mut bytes)? {
            let metadata = &mut object["metadata"];
            let version = metadata["resourceVersion"].clone();
            match event_type.as_str() {
                "ADDED" => {
                    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                    objects.insert((text(&metadata["uid"]), text(&version)), object);
                }
                "BOOKMARK" if metadata["annotations"][INITIAL_EVENTS_END] == "true" => {
                    metadata["resourceVersion"] = "".into();
                    let bookmark = object;
                    return Ok(Watched { objects, bookmark });
                }
                other => return Err(format!("an initial event of type {other}")),
            }
        }
        let read = answer.read(&mut piece).await;
        match read.map_err(|error| error.to_string())? {
            0 => return Err("the watch ended before its initial events".to_owned()),
            length => bytes.extend_from_slice(&piece[..length]),
        }
    }
}

/// Sends a request; the body of a good answer.
async fn open(
    client: &Client,
    uri: &str,
    accept: &str,
) -> Result<impl futures::AsyncRead + Unpin + use<>, String> {
    let request = Request::get(uri).header(http::header::ACCEPT, accept);
    let request = request.body(Vec::new()).expect("a request");
    let answer = client.request_stream(request).await;
    answer
        .map(Box::pin)
        .map_err(|error| format!("{uri} in {accept}: {error}"))
}

/// The first difference: its path, and unless the object is a Secret, both values.
pub(super) fn difference(json: &Value, protobuf: &Value, shows_values: bool) -> Option<String> {
    let (path, json, protobuf) = first_difference(json, protobuf, String::new())?;
    let text = |value: Option<&Value>| match value {
        Some(_) if !shows_values => "a value".to_owned(),
        Some(value) => value.to_string(),
        None => "nothing".to_owned(),
    };
    let (json, protobuf) = (text(json), text(protobuf));
    Some(format!("{path}: {json} in JSON, {protobuf} in protobuf"))
}

type Difference<'a> = (String, Option<&'a Value>, Option<&'a Value>);

fn first_difference<'a>(
    json: &'a Value,
    protobuf: &'a Value,
    path: String,
) -> Option<Difference<'a>> {
    match (json, protobuf) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            keys.map(|key| (format!("{path}.{key}"), a.get(key), b.get(key)))
                .find_map(|(path, a, b)| match (a, b) {
                    (Some(a), Some(b)) => first_difference(a, b, path),
                    (Some(_), None) if is_type_of_template(&path) => None,
                    _ => Some((path, a, b)),
                })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => (0..)
            .zip(a.iter().zip(b))
            .find_map(|(index, (a, b))| first_difference(a, b, format!("{path}[{index}]"))),
        _ if json == protobuf || is_empty(json) && is_empty(protobuf) => None,
        _ => Some((path, Some(json), Some(protobuf))),
    }
}

/// The wire does not tell null from an empty list or map.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(elements) => elements.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// The wire has no `apiVersion` and `kind` of an object within another one.
fn is_type_of_template(path: &str) -> bool {
    path.contains(".volumeClaimTemplates[")
        && (path.ends_with("].apiVersion") || path.ends_with("].kind"))
}

#[test]
fn differences_are_found_and_secrets_are_not_shown() {
    let json = serde_json::json!({ "a": [1, { "b": "text" }] });
    assert_eq!(difference(&json, &json, true), None);
    let mut other = json.clone();
    other["a"][1]["b"] = "other".into();
    let shown = difference(&json, &other, true).expect("a difference");
    assert_eq!(shown, r#".a[1].b: "text" in JSON, "other" in protobuf"#);
    let hidden = difference(&json, &other, false).expect("a difference");
    assert_eq!(hidden, ".a[1].b: a value in JSON, a value in protobuf");
    other["a"][1] = serde_json::json!({});
    let missing = difference(&json, &other, true).expect("a difference");
    assert_eq!(missing, r#".a[1].b: "text" in JSON, nothing in protobuf"#);
}
