//! Judges the decoder: objects that Go's own types made and encoded must decode to the same values
//! from JSON and from protobuf, and the estimates of their memory must not be too small.
//!
//! The stored objects are few. `cargo xtask protobuf-equality` makes as many as it is told to, and
//! names their file in `INFORMER_PROTOBUF_OBJECTS`.

mod kinds;

use std::alloc::System;

use informer_kube_protobuf::{Deserializer, Envelope, Error, Schema, decoded_bytes, to_body};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

// It counts all threads, so this program has one test.
#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Compares the two decoded forms of an object as one type; the error is the difference.
type Compare = fn(&Object<'_>) -> Result<Outcome, String>;

enum Outcome {
    Equal,
    /// Both forms are refused: the type cannot express a value.
    Refused,
    /// Our bytes differ from Go's, and mean the same.
    Respelled,
}

/// One object as Go wrote it.
struct Object<'a> {
    api_version: &'a str,
    kind: &'a str,
    json: &'a [u8],
    body: &'a [u8],
}

#[test]
fn objects_of_go_decode_to_equal_values_from_json_and_from_protobuf() {
    let file = std::env::var("INFORMER_PROTOBUF_OBJECTS");
    let file = file.unwrap_or_else(|_| "tests/data/objects.bin".to_owned());
    let bytes = std::fs::read(&file).expect("the file of objects");
    let types = kinds::types();
    let (mut objects, mut typed, mut refused, mut respelled) = (0, 0, 0, 0);
    let mut differences = Vec::new();
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let object = Object::read(&mut rest);
        let kind = (object.api_version, object.kind);
        let compare_typed = types.get(&kind);
        let results = [
            Some(compare_values::<Value>(&object)),
            Some(compare_bytes(&object)),
            compare_typed.map(|it| it(&object)),
        ];
        for result in results.into_iter().flatten() {
            match result {
                Ok(Outcome::Equal) => {}
                Ok(Outcome::Refused) => refused += 1,
                Ok(Outcome::Respelled) => respelled += 1,
                Err(text) => differences.push(format!("object {objects}, {kind:?}: {text}")),
            }
        }
        typed += usize::from(compare_typed.is_some());
        objects += 1;
    }
    println!(
        "{objects} objects, {typed} of them typed, {refused} refused in both forms; \
         encoded, {respelled} have other bytes than Go's"
    );
    let shown: Vec<&String> = differences.iter().take(20).collect();
    assert!(
        differences.is_empty(),
        "{} differences: {shown:#?}",
        differences.len()
    );
    assert!(
        objects >= 300 && typed >= objects / 4,
        "{objects} objects, {typed} typed"
    );
    assert!(
        respelled * 2 < objects,
        "{respelled} of {objects} have other bytes"
    );
    assert!(refused * 10 < typed, "{refused} of {typed} are refused");
}

impl<'a> Object<'a> {
    fn read(rest: &mut &'a [u8]) -> Self {
        let mut part = || {
            let (length, tail) = rest.split_first_chunk::<4>().expect("a length");
            let (part, tail) = tail.split_at(u32::from_be_bytes(*length) as usize);
            *rest = tail;
            part
        };
        let (api_version, kind) = (part(), part());
        Self {
            api_version: std::str::from_utf8(api_version).expect("UTF-8"),
            kind: std::str::from_utf8(kind).expect("UTF-8"),
            json: part(),
            body: part(),
        }
    }
}

fn compare<T>(object: &Object<'_>) -> Result<Outcome, String>
where
    T: DeserializeOwned + PartialEq + Serialize + 'static,
{
    let outcome = compare_values::<T>(object)?;
    if matches!(outcome, Outcome::Equal) {
        check_estimate(object, |envelope, _| envelope.decode::<T>())?;
        let by_number = check_estimate(object, |envelope, schema| {
            let message = Deserializer::new(schema, envelope.raw);
            (message.named(object.api_version, object.kind)).decode::<T>()
        })?;
        let by_name: T = serde_json::from_slice(object.json).map_err(|error| error.to_string())?;
        if by_number != by_name {
            return Err("the struct that was filled by numbers differs".to_owned());
        }
    }
    Ok(outcome)
}

/// Compares the estimated memory of an object with the memory that it keeps.
fn check_estimate<T>(
    object: &Object<'_>,
    decode: impl FnOnce(&Envelope<'_>, Schema) -> Result<T, Error>,
) -> Result<T, String> {
    let envelope = Envelope::parse(object.body).map_err(|error| error.to_string())?;
    let schema = envelope.schema().ok_or("no schema")?;
    let region = Region::new(GLOBAL);
    let decoded = decode(&envelope, schema).map_err(|error| error.to_string())?;
    let change = region.change();
    let bytes = size_of::<T>() + change.bytes_allocated - change.bytes_deallocated;
    let estimate = decoded_bytes(schema, envelope.raw, usize::MAX);
    match estimate >= bytes {
        true => Ok(decoded),
        false => Err(format!("{bytes} bytes are estimated as {estimate}")),
    }
}

fn compare_values<T>(object: &Object<'_>) -> Result<Outcome, String>
where
    T: DeserializeOwned + PartialEq + Serialize,
{
    let json: Result<T, _> = serde_json::from_slice(object.json);
    let protobuf: Result<T, _> = Envelope::parse(object.body).and_then(|it| it.decode());
    match (json, protobuf) {
        (Ok(json), Ok(protobuf)) if json == protobuf => Ok(Outcome::Equal),
        (Ok(json), Ok(protobuf)) => {
            let value = |it: &T| serde_json::to_value(it).expect("serializes");
            let (json, protobuf) = (value(&json), value(&protobuf));
            let path = difference(&json, &protobuf, "");
            Err(path.unwrap_or_else(|| "equal as JSON, different as a type".to_owned()))
        }
        (Err(_), Err(_)) => Ok(Outcome::Refused),
        (Err(error), Ok(_)) => Err(format!("JSON alone is refused: {error}")),
        (Ok(_), Err(error)) => Err(format!("protobuf alone is refused: {error}")),
    }
}

/// Encodes the JSON, and expects the bytes of Go.
///
/// JSON within the object may be spelled differently. A pointer to the zero time or to no JSON is
/// null in JSON, where it does not differ from no pointer.
fn compare_bytes(object: &Object<'_>) -> Result<Outcome, String> {
    let json: Value = serde_json::from_slice(object.json).map_err(|error| error.to_string())?;
    let body = to_body(&json).map_err(|error| error.to_string())?;
    if body == object.body {
        return Ok(Outcome::Equal);
    }
    let again: Result<Value, _> = Envelope::parse(&body).and_then(|it| it.decode());
    let again = again.map_err(|error| format!("our own bytes are refused: {error}"))?;
    match difference(&without_nulls(json), &without_nulls(again), "") {
        Some(path) => Err(format!("encoded and decoded again: {path}")),
        None => Ok(Outcome::Respelled),
    }
}

/// Leaves out the members of objects that are null.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().filter(|(_, member)| !member.is_null());
            members
                .map(|(key, member)| (key, without_nulls(member)))
                .collect()
        }
        Value::Array(elements) => elements.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

/// Returns the path of the first difference and both values.
fn difference(json: &Value, protobuf: &Value, path: &str) -> Option<String> {
    match (json, protobuf) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            keys.map(|key| (key, a.get(key), b.get(key)))
                .find_map(|(key, a, b)| match (a, b) {
                    (Some(a), Some(b)) => difference(a, b, &format!("{path}.{key}")),
                    _ => Some(format!("{path}.{key}: JSON {a:?}, protobuf {b:?}")),
                })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => (0..)
            .zip(a.iter().zip(b))
            .find_map(|(index, (a, b))| difference(a, b, &format!("{path}[{index}]"))),
        _ if json == protobuf => None,
        _ => Some(format!("{path}: JSON {json}, protobuf {protobuf}")),
    }
}
