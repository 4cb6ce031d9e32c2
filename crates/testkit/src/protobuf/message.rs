//! The message of one object, and its parts.

use informer_kube_protobuf::{Schema, seal, to_vec};
use serde_json::{Map, Value, json};

/// The wire type of length-delimited fields.
const BYTES: u8 = 2;
/// A wire type that no field of Kubernetes has.
const FIXED32: u8 = 5;

/// Encodes an object. Members of a wrong type become damage, so this never fails.
pub(crate) fn message(schema: Schema, object: &Value) -> Vec<u8> {
    to_vec(schema, object).unwrap_or_else(|_| message_with_damage(schema, object))
}

/// Encodes an object as a body. `schema` is for objects whose `apiVersion` and `kind` are not
/// those of a built-in kind.
pub(crate) fn body(object: &Value, schema: Option<Schema>) -> Vec<u8> {
    let text = |name: &str| object[name].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let message = match Schema::of(api_version, kind).or(schema) {
        Some(schema) => message(schema, object),
        None => Vec::new(),
    };
    seal(api_version, kind, &message)
}

/// Encodes the members that have their types, and marks the object as damaged.
fn message_with_damage(schema: Schema, object: &Value) -> Vec<u8> {
    let empty = Map::new();
    let members = object.as_object().unwrap_or(&empty);
    let is_encodable = |object: &Value| to_vec(schema, object).is_ok();
    let mut kept = members.clone();
    kept.retain(|name, value| is_encodable(&json!({name: value})));
    let metadata = members.get("metadata").and_then(Value::as_object);
    let lost_metadata = metadata.filter(|_| !kept.contains_key("metadata"));
    if let Some(metadata) = lost_metadata {
        let mut metadata = metadata.clone();
        metadata.retain(|name, value| is_encodable(&json!({"metadata": {name: value}})));
        kept.insert("metadata".to_owned(), Value::Object(metadata));
    }
    let mut message = to_vec(schema, &Value::Object(kept)).unwrap_or_default();
    match lost_metadata {
        // In place of the labels.
        Some(_) => with_metadata(&message, |metadata| wrong_field(metadata, 11)),
        None => {
            // In place of `spec`, `data` or the like.
            wrong_field(&mut message, 2);
            message
        }
    }
}

/// Appends a field whose wire type is wrong for every schema.
fn wrong_field(out: &mut Vec<u8>, number: u32) {
    tag(out, number, FIXED32);
    out.extend([0; 4]);
}

/// The message of an object with other metadata.
pub(super) fn with_metadata(message: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let Some((metadata, rest)) = first_field(message) else {
        return message.to_vec();
    };
    let mut metadata = metadata.to_vec();
    change(&mut metadata);
    let mut out = Vec::with_capacity(message.len() + 64);
    bytes_field(&mut out, 1, &metadata);
    out.extend_from_slice(rest);
    out
}

/// The content of field 1, which Go writes first, and the bytes behind it: the metadata of an
/// object or a list, the name in metadata.
pub(super) fn first_field(message: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = message.strip_prefix(&[1 << 3 | BYTES])?;
    let mut length = 0;
    for shift in (0..usize::BITS).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        rest = tail;
        length |= usize::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            break;
        }
    }
    rest.split_at_checked(length)
}

pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(super) fn tag(out: &mut Vec<u8>, number: u32, wire: u8) {
    varint(out, u64::from(number) << 3 | u64::from(wire));
}

pub(super) fn bytes_field(out: &mut Vec<u8>, number: u32, value: &[u8]) {
    tag(out, number, BYTES);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}
