//! Encoding: the bytes that Go writes, from JSON values.

mod special;
pub(crate) mod write;

use std::fmt;

use serde_json::{Map, Value};

use crate::envelope::MAGIC;
use crate::schema::{Choice, Field, Kind, Message, Schema, Shape};
use write::{bytes_field, field_len, float_field, int_field, length_field};

/// Why a JSON value could not be encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    /// From the inside out.
    path: Vec<String>,
    expected: &'static str,
}

/// Encodes an object as a bare message, as Go does.
///
/// Members that the schema lacks are left out, `apiVersion` and `kind` among them. Fields are in
/// order of their numbers, entries of maps in order of their keys, and fields that Go writes even
/// if they are zero are written.
///
/// # Errors
///
/// A member has another type than the schema's, or a text is no time, duration or base64.
///
/// ```
/// use informer_kube_protobuf::{Schema, from_slice, to_vec};
/// use serde_json::{Value, json};
///
/// let schema = Schema::of("v1", "ConfigMap").expect("a built-in kind");
/// let object = json!({"metadata": {"name": "settings"}, "data": {"a": "b"}});
/// let bytes = to_vec(schema, &object)?;
/// assert_eq!(from_slice::<Value>(schema, &bytes)?, object);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_vec(schema: Schema, object: &Value) -> Result<Vec<u8>, EncodeError> {
    let mut out = Vec::new();
    match schema.choice() {
        Some(rule) => choice(&mut out, schema.fields(), rule, object, 1)?,
        None => message(&mut out, schema.fields(), members(object)?, 1)?,
    }
    Ok(out)
}

/// Encodes an object as a body: `k8s\0`, its `apiVersion` and `kind`, and its message.
///
/// # Errors
///
/// The members `apiVersion` and `kind` name no built-in kind, or [`to_vec`] fails.
///
/// ```
/// use informer_kube_protobuf::{Envelope, to_body};
/// use serde_json::{Value, json};
///
/// let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {}, "data": {"a": "AQI="}});
/// let body = to_body(&object)?;
/// assert_eq!(Envelope::parse(&body)?.decode::<Value>()?, object);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_body(object: &Value) -> Result<Vec<u8>, EncodeError> {
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let expected = "apiVersion and kind of a built-in kind";
    let schema = Schema::of(api_version, kind).ok_or(EncodeError::new(expected))?;
    Ok(seal(api_version, kind, &to_vec(schema, object)?))
}

/// Puts a message into a body: `k8s\0`, the `apiVersion` and `kind`, and the message.
#[must_use]
pub fn seal(api_version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    // Made in one allocation, since every packed object is kept as a body.
    let type_meta = field_len(api_version.len()) + field_len(kind.len());
    let lens = [type_meta, message.len(), 0, 0];
    let mut body = Vec::with_capacity(MAGIC.len() + lens.map(field_len).iter().sum::<usize>());
    body.extend(MAGIC);
    length_field(&mut body, 1, type_meta);
    bytes_field(&mut body, 1, api_version.as_bytes());
    bytes_field(&mut body, 2, kind.as_bytes());
    bytes_field(&mut body, 2, message);
    // Go writes the encoding and the type of the content, which are empty.
    bytes_field(&mut body, 3, b"");
    bytes_field(&mut body, 4, b"");
    body
}

/// Puts a body into a frame of a watch: the length, then the event.
///
/// A frame states its length in 32 bits. For an event of 4 GiB or more the stated length is wrong;
/// objects of Kubernetes have a few megabytes.
#[must_use]
pub fn to_frame(event_type: &str, body: &[u8]) -> Vec<u8> {
    let (mut extension, mut event) = (Vec::new(), Vec::new());
    bytes_field(&mut extension, 1, body);
    bytes_field(&mut event, 1, event_type.as_bytes());
    bytes_field(&mut event, 2, &extension);
    let length = u32::try_from(event.len()).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], &event].concat()
}

type Result<T, E = EncodeError> = std::result::Result<T, E>;

fn members(object: &Value) -> Result<&Map<String, Value>> {
    object.as_object().ok_or(EncodeError::new("an object"))
}

/// Writes the fields of a message.
fn message(
    out: &mut Vec<u8>,
    message: &'static Message,
    object: &Map<String, Value>,
    depth: u8,
) -> Result<()> {
    if depth > crate::wire::MAX_DEPTH {
        return Err(EncodeError::new("less nesting"));
    }
    for field in message.fields() {
        let result = match (field.shape, field.kind) {
            (Shape::Inline, Kind::Message(entry)) => {
                let mut inner = Vec::new();
                self::message(&mut inner, entry.message(), object, depth)
                    .map(|()| bytes_field(out, field.number, &inner))
            }
            _ => self::field(out, field, object.get(field.name), depth),
        };
        result.map_err(|error| error.within(field.name))?;
    }
    Ok(())
}

/// Writes one field, if Go does.
fn field(out: &mut Vec<u8>, field: &Field, value: Option<&Value>, depth: u8) -> Result<()> {
    let value = value.unwrap_or(&Value::Null);
    let number = field.number;
    match (field.shape, value) {
        (Shape::List, Value::Array(elements)) => {
            for (index, element) in elements.iter().enumerate() {
                single(out, number, field.kind, element, depth)
                    .map_err(|error| error.within(&format!("[{index}]")))?;
            }
            Ok(())
        }
        (Shape::Map, Value::Object(entries)) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            for (key, value) in entries {
                let mut entry = Vec::new();
                bytes_field(&mut entry, 1, key.as_bytes());
                if !(value.is_null() && matches!(field.kind, Kind::Bytes)) {
                    single(&mut entry, 2, field.kind, value, depth)
                        .map_err(|error| error.within(key))?;
                }
                bytes_field(out, number, &entry);
            }
            Ok(())
        }
        (Shape::List | Shape::Map | Shape::Pointer, Value::Null) => Ok(()),
        (Shape::List, _) => Err(EncodeError::new("an array")),
        (Shape::Map, _) => Err(EncodeError::new("an object")),
        _ if value.is_null() && matches!(field.kind, Kind::Bytes | Kind::Names) => Ok(()),
        _ => single(out, number, field.kind, value, depth),
    }
}

/// Writes one value; null is zero.
fn single(out: &mut Vec<u8>, number: u32, kind: Kind, value: &Value, depth: u8) -> Result<()> {
    let mut inner = Vec::new();
    match kind {
        Kind::Bool => {
            let value = or_default(value, value.as_bool(), "true or false")?;
            int_field(out, number, u64::from(value));
            return Ok(());
        }
        Kind::I32 => {
            let small = value.as_i64().and_then(|value| i32::try_from(value).ok());
            let value = or_default(value, small, "an integer of 32 bits")?;
            int_field(out, number, i64::from(value) as u64);
            return Ok(());
        }
        Kind::I64 => {
            let value = or_default(value, value.as_i64(), "an integer of 64 bits")?;
            int_field(out, number, value as u64);
            return Ok(());
        }
        Kind::F64 => {
            let value = or_default(value, value.as_f64(), "a number")?;
            float_field(out, number, value);
            return Ok(());
        }
        Kind::Str => {
            let value = or_default(value, value.as_str(), "a string")?;
            bytes_field(out, number, value.as_bytes());
            return Ok(());
        }
        Kind::Message(entry) => {
            let empty = Map::new();
            let object = if value.is_null() {
                &empty
            } else {
                members(value)?
            };
            message(&mut inner, entry.message(), object, depth + 1)?;
        }
        Kind::Choice(entry, rule) => {
            choice(&mut inner, entry.message(), rule, value, depth + 1)?;
        }
        _ => special::write(&mut inner, kind, value)?,
    }
    bytes_field(out, number, &inner);
    Ok(())
}

/// Writes a message whose JSON is one of its fields.
fn choice(
    out: &mut Vec<u8>,
    message: &'static Message,
    rule: Choice,
    value: &Value,
    depth: u8,
) -> Result<()> {
    let number = match (rule, value) {
        (_, Value::Null) if rule != Choice::Bool => return Ok(()),
        (Choice::Bool, Value::Bool(_) | Value::Null) => 1,
        (Choice::Bool, _) => {
            int_field(out, 1, 1);
            2
        }
        (_, Value::Array(_)) => 2,
        _ => 1,
    };
    let Some(field) = message.field(number) else {
        return Err(EncodeError::new("a schema"));
    };
    self::field(out, field, Some(value), depth)
}

/// The value of the right type, or the default for null.
fn or_default<T: Default>(value: &Value, typed: Option<T>, expected: &'static str) -> Result<T> {
    match value {
        Value::Null => Ok(T::default()),
        _ => typed.ok_or(EncodeError::new(expected)),
    }
}

impl EncodeError {
    fn new(expected: &'static str) -> Self {
        Self {
            path: Vec::new(),
            expected,
        }
    }

    fn within(mut self, segment: &str) -> Self {
        self.path.push(segment.to_owned());
        self
    }

    /// Returns the path of the member, as `spec.containers[0].name`.
    #[must_use]
    pub fn path(&self) -> String {
        let segments = self.path.iter().rev().filter(|segment| *segment != "-");
        let mut path = String::new();
        for segment in segments {
            if !path.is_empty() && !segment.starts_with('[') {
                path.push('.');
            }
            path.push_str(segment);
        }
        path
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot encode protobuf")?;
        if !self.path.is_empty() {
            write!(f, " at {}", self.path())?;
        }
        write!(f, ": {} expected", self.expected)
    }
}

impl std::error::Error for EncodeError {}
