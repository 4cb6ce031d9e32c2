//! One version of one object, rendered once and shared by everybody who sends it.
//!
//! The rendering puts `kind` and `apiVersion` first, then `metadata` with `resourceVersion` first,
//! then the rest. So a list item without type, a metadata-only answer, and the same object under
//! another version (what a `DELETED` event carries) are cut from the bytes without parsing.
//! Immutable; holds no history.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use informer_reflector::{Identity, ObjectKey};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::{Resource, fields::Fields, protobuf, wire::Form};

/// One version of one object, as the server holds it. Cheap to clone.
#[derive(Clone)]
pub struct Object(Arc<Rendered>);

struct Rendered {
    identity: Identity,
    uid: Arc<str>,
    version: u64,
    labels: BTreeMap<String, String>,
    node: Option<String>,
    bytes: Bytes,
    /// Where `"metadata":` begins.
    metadata: usize,
    /// Where the digits of the version begin and end.
    digits: (usize, usize),
    /// Where the rest of the object begins: right behind the metadata's closing brace.
    rest: usize,
    /// The rest, as slices of `bytes`.
    fields: Fields,
    /// Where in `bytes` each of them begins.
    starts: Vec<usize>,
    messages: Messages,
}

/// The object in protobuf, encoded for the first client that wants it.
#[derive(Default)]
struct Messages {
    whole: OnceLock<Bytes>,
    metadata: OnceLock<Bytes>,
}

const METADATA: &[u8] = b"\"metadata\":";

impl Object {
    /// Renders an object; `fields` holds everything but `kind`, `apiVersion` and `metadata`.
    pub(crate) fn render(
        resource: &Resource,
        version: u64,
        metadata: &Map<String, Value>,
        fields: &Fields,
    ) -> Self {
        let size: usize = fields.iter().map(|(_, value)| value.len() + 32).sum();
        let mut out = Vec::with_capacity(size + 512);
        out.extend_from_slice(b"{\"kind\":");
        write_json(&mut out, &resource.kind);
        out.extend_from_slice(b",\"apiVersion\":");
        write_json(&mut out, &resource.api_version());
        out.push(b',');
        let metadata_at = out.len();
        out.extend_from_slice(METADATA);
        out.extend_from_slice(b"{\"resourceVersion\":\"");
        let digits_at = out.len();
        out.extend_from_slice(version.to_string().as_bytes());
        let digits = (digits_at, out.len());
        out.push(b'"');
        for (name, value) in metadata
            .iter()
            .filter(|(name, _)| *name != "resourceVersion")
        {
            write_name(&mut out, name);
            write_json(&mut out, value);
        }
        out.push(b'}');
        let rest = out.len();
        let mut starts = Vec::new();
        for (name, value) in fields.iter() {
            write_name(&mut out, name);
            starts.push(out.len());
            out.extend_from_slice(value);
        }
        out.push(b'}');
        out.shrink_to_fit();
        let bytes = Bytes::from(out);
        Self(Arc::new(Rendered {
            identity: identity_of(version, metadata),
            uid: uid_of(metadata).into(),
            version,
            labels: labels_of(metadata),
            node: fields.node(),
            fields: fields.within(&bytes, &starts),
            starts,
            bytes,
            metadata: metadata_at,
            digits,
            rest,
            messages: Messages::default(),
        }))
    }

    /// The same object under another version.
    pub(crate) fn with_version(&self, version: u64) -> Self {
        let old = &self.0;
        let text = version.to_string();
        let mut out = Vec::with_capacity(old.bytes.len() + 2);
        out.extend_from_slice(&old.bytes[..old.digits.0]);
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(&old.bytes[old.digits.1..]);
        let end = old.digits.0 + text.len();
        let bytes = Bytes::from(out);
        let grown = |start: &usize| start + bytes.len() - old.bytes.len();
        let starts: Vec<usize> = old.starts.iter().map(grown).collect();
        Self(Arc::new(Rendered {
            identity: Identity::new(old.identity.key.clone(), old.identity.uid.clone(), version),
            uid: Arc::clone(&old.uid),
            version,
            labels: old.labels.clone(),
            node: old.node.clone(),
            rest: old.rest + bytes.len() - old.bytes.len(),
            fields: old.fields.within(&bytes, &starts),
            starts,
            bytes,
            metadata: old.metadata,
            digits: (old.digits.0, end),
            messages: Messages::default(),
        }))
    }

    /// Key, uid and version, as a source delivers them.
    pub fn identity(&self) -> &Identity {
        &self.0.identity
    }

    /// The namespace; `None` for an object without one.
    pub fn namespace(&self) -> Option<&str> {
        self.0.identity.key.namespace()
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.0.identity.key.name()
    }

    /// The uid the server gave it.
    pub fn uid(&self) -> &str {
        &self.0.uid
    }

    /// The version, which is the server's revision at which it was written.
    pub fn version(&self) -> u64 {
        self.0.version
    }

    /// Its labels.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.0.labels
    }

    /// `spec.nodeName`, empty if unset: the one field selectors ask for.
    pub(crate) fn node(&self) -> &str {
        self.0.node.as_deref().unwrap_or_default()
    }

    /// The whole JSON; shared, not copied.
    pub fn bytes(&self) -> Bytes {
        self.0.bytes.clone()
    }

    /// The JSON in this form.
    pub(crate) fn bytes_in(&self, form: Form) -> Bytes {
        match form {
            Form::Whole => self.bytes(),
            Form::Metadata => {
                let mut bytes = Vec::new();
                self.write_partial(&mut bytes);
                bytes.into()
            }
        }
    }

    /// The JSON as a value.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.0.bytes).expect("rendered by us, so it is JSON")
    }

    /// The object as a type of yours.
    ///
    /// # Errors
    ///
    /// That of `serde_json`, if the object does not fit the type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.0.bytes)
    }

    /// Appends the JSON without `kind` and `apiVersion`, as built-in types travel in lists.
    pub(crate) fn write_untyped(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        out.extend_from_slice(&self.0.bytes[self.0.metadata..]);
    }

    /// Appends the metadata alone, as `PartialObjectMetadata`.
    pub(crate) fn write_partial(&self, out: &mut Vec<u8>) {
        const HEAD: &[u8] =
            b"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",";
        out.extend_from_slice(HEAD);
        out.extend_from_slice(&self.0.bytes[self.0.metadata..self.0.rest]);
        out.push(b'}');
    }

    /// The message in protobuf; empty if the resource has none in this form.
    pub(crate) fn message(&self, resource: &Resource, form: Form) -> Bytes {
        let encode = |object: &Value| {
            let schema = protobuf::schema_of(resource, form);
            schema.map_or_else(Bytes::new, |schema| {
                protobuf::message(schema, object).into()
            })
        };
        let messages = &self.0.messages;
        let message = match form {
            Form::Whole => messages.whole.get_or_init(|| encode(&self.json())),
            Form::Metadata => messages
                .metadata
                .get_or_init(|| encode(&json!({"metadata": self.metadata_json()}))),
        };
        message.clone()
    }

    fn metadata_json(&self) -> Map<String, Value> {
        let start = self.0.metadata + METADATA.len();
        let metadata = serde_json::from_slice(&self.0.bytes[start..self.0.rest]);
        metadata.expect("rendered by us, so it is JSON")
    }

    /// The metadata and the other fields, for the next write.
    pub(crate) fn to_parts(&self) -> (Map<String, Value>, Fields) {
        (self.metadata_json(), self.0.fields.clone())
    }

    /// Whether two versions differ in nothing but the version.
    pub(crate) fn is_same_but_version(&self, other: &Self) -> bool {
        let (a, b) = (&self.0, &other.0);
        a.bytes[..a.digits.0] == b.bytes[..b.digits.0]
            && a.bytes[a.digits.1..] == b.bytes[b.digits.1..]
    }
}

/// Never shows the content, which may be a Secret.
// SEC-6
impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object")
            .field("identity", &self.0.identity)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.bytes == other.0.bytes
    }
}

impl Eq for Object {}

/// Takes an object apart; types are dropped, since the resource knows them.
pub(crate) fn split(value: Value) -> (Map<String, Value>, Fields) {
    let Value::Object(mut fields) = value else {
        return (Map::new(), Fields::default());
    };
    fields.remove("kind");
    fields.remove("apiVersion");
    match fields.remove("metadata") {
        Some(Value::Object(metadata)) => (metadata, fields.into()),
        _ => (Map::new(), fields.into()),
    }
}

/// A string that is there and not empty.
pub(crate) fn text(value: Option<&Value>) -> Option<&str> {
    value
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

fn identity_of(version: u64, metadata: &Map<String, Value>) -> Identity {
    let name = text(metadata.get("name")).unwrap_or_default();
    let key = ObjectKey::new(text(metadata.get("namespace")), name);
    let key = key.expect("the history refuses an object without a valid name");
    Identity::new(key, uid_of(metadata), version)
}

fn uid_of(metadata: &Map<String, Value>) -> &str {
    text(metadata.get("uid")).unwrap_or_default()
}

fn labels_of(metadata: &Map<String, Value>) -> BTreeMap<String, String> {
    let Some(Value::Object(labels)) = metadata.get("labels") else {
        return BTreeMap::new();
    };
    let pair = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    labels.iter().filter_map(pair).collect()
}

fn write_name(out: &mut Vec<u8>, name: &str) {
    out.push(b',');
    write_json(out, name);
    out.push(b':');
}

fn write_json<T: serde::Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).expect("writing JSON values to memory cannot fail");
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(value: Value) -> Object {
        let (metadata, fields) = split(value);
        Object::render(&Resource::pods(), 99, &metadata, &fields)
    }

    /// The bytes cut from one rendering say the same as a parser would.
    #[test]
    fn cuts_agree_with_the_whole() {
        let object = pod(json!({
            "metadata": {"name": "a", "namespace": "x", "uid": "u", "labels": {"k": "v"}},
            "spec": {"nodeName": "n1"},
        }));
        let mut whole = object.json();
        assert_eq!(whole["metadata"]["resourceVersion"], "99");
        assert_eq!(whole["kind"], "Pod");

        let mut partial = Vec::new();
        object.write_partial(&mut partial);
        let partial: Value = serde_json::from_slice(&partial).unwrap();
        assert_eq!(partial["metadata"], whole["metadata"]);
        assert_eq!(partial["spec"], Value::Null);

        let later = object.with_version(1000);
        whole["metadata"]["resourceVersion"] = json!("1000");
        assert_eq!(later.json(), whole);
        assert_eq!(later.version(), 1000);
        assert_eq!(later.with_version(7).with_version(99), object);
        assert!(later.is_same_but_version(&object));

        let mut untyped = Vec::new();
        later.write_untyped(&mut untyped);
        let untyped: Value = serde_json::from_slice(&untyped).unwrap();
        whole
            .as_object_mut()
            .unwrap()
            .retain(|name, _| name != "kind" && name != "apiVersion");
        assert_eq!(untyped, whole);
        assert_eq!((later.node(), &*later.labels()["k"]), ("n1", "v"));
    }

    #[test]
    fn an_object_of_nothing_but_a_name_is_rendered_as_json() {
        assert_eq!(
            pod(json!({"metadata": {"name": "a"}})).json()["metadata"],
            json!({"resourceVersion": "99", "name": "a"})
        );
    }

    /// SEC-6.
    #[test]
    fn debug_shows_no_content() {
        let object = pod(json!({"metadata": {"name": "a"}, "data": {"password": "hunter2"}}));
        assert!(!format!("{object:?}").contains("hunter2"));
    }
}
