//! A fuzzer's bytes as answers and as frames of a watch.

use serde_json::{Map, Value};

use crate::schema::Kind;
use crate::{
    Dropped, Envelope, Identity, ListPart, ListParts, Schema, WatchEvent, copy_without,
    decoded_bytes, from_slice, seal, split_frame, to_frame, to_vec,
};

/// The longest frame that is accepted.
const MAX_FRAME: usize = 4096;

/// serde_json takes a map with such a key for one of its own types.
const PRIVATE: &[u8] = b"$serde_json::private::";

/// The bytes are a body; without the magic bytes, the first two choose a kind and the others are a
/// message of it.
///
/// # Panics
///
/// If decoding, copying, encoding and identity disagree.
pub fn protobuf_answer(data: &[u8]) {
    if let Ok(envelope) = Envelope::parse(data) {
        return answer(&envelope);
    }
    let Some((choice, message)) = data.split_first_chunk() else {
        return;
    };
    let choice = usize::from(u16::from_be_bytes(*choice));
    let kinds = Schema::kinds().count();
    if let Some((api_version, kind)) = Schema::kinds().nth(choice % kinds)
        && let Some(schema) = Schema::of(api_version, kind)
    {
        object(schema, message);
    }
}

/// The bytes are those of a watch.
///
/// # Panics
///
/// If frames, events and bodies differ from what the encoder writes, or as [`protobuf_answer`].
pub fn protobuf_frames(data: &[u8]) {
    let mut rest = data;
    while let Ok(Some((frame, tail))) = split_frame(rest, MAX_FRAME) {
        assert!((1..=MAX_FRAME).contains(&frame.len()), "an illegal length");
        assert_eq!(4 + frame.len() + tail.len(), rest.len(), "bytes are lost");
        let torn = rest.get(..3 + frame.len()).unwrap_or_default();
        assert!(matches!(split_frame(torn, MAX_FRAME), Ok(None)), "torn");
        if let Ok(event) = WatchEvent::parse(frame) {
            let again = to_frame(event.event_type, event.object);
            let (again, _) = split_frame(&again, usize::MAX)
                .expect("a legal length")
                .expect("complete");
            assert!(
                WatchEvent::parse(again)
                    .as_ref()
                    .is_ok_and(|it| *it == event)
            );
            if let Ok(envelope) = Envelope::parse(event.object) {
                answer(&envelope);
            }
        }
        rest = tail;
    }
}

fn answer(envelope: &Envelope<'_>) {
    let again = seal(envelope.api_version, envelope.kind, envelope.raw);
    let again = Envelope::parse(&again).expect("was encoded");
    let parts = |it: &Envelope<'_>| (it.api_version.to_owned(), it.kind.to_owned());
    assert_eq!(parts(&again), parts(envelope), "not the same kind");
    assert!(again.raw == envelope.raw, "not the same message");
    let Some(schema) = envelope.schema() else {
        return;
    };
    object(schema, envelope.raw);
    if let Some(item) = schema.item() {
        for part in ListParts::new(envelope.raw) {
            if let Ok(ListPart::Item(bytes)) = part {
                object(item, bytes);
            }
        }
    }
}

fn object(schema: Schema, message: &[u8]) {
    if message.windows(PRIVATE.len()).any(|it| it == PRIVATE) {
        return;
    }
    let value: Option<Value> = from_slice(schema, message).ok();
    copies(schema, message, value.as_ref());
    let bytes = decoded_bytes(schema, message, usize::MAX);
    let most = bytes / 2;
    let counted = decoded_bytes(schema, message, most);
    assert!(counted > most || bytes == 0, "counting stopped early");
    let identity = Identity::read(message);
    let Some(value) = value else {
        return;
    };
    let again = to_vec(schema, &value).expect("a decoded value");
    let again: Value = from_slice(schema, &again).expect("was encoded");
    let (value, again) = (without_empty(value), without_empty(again));
    assert!(is_same(&value, &again), "{value}\nis encoded as\n{again}");
    if has_metadata(schema) {
        let identity = identity.expect("the object is well-formed");
        assert!(!identity.is_ambiguous, "the object would be refused");
        let text = |name: &str| {
            value["metadata"][name]
                .as_str()
                .unwrap_or_default()
                .as_bytes()
        };
        assert_eq!(identity.namespace, text("namespace"));
        assert_eq!(identity.name, text("name"));
        assert_eq!(identity.uid, text("uid"));
        assert_eq!(identity.resource_version, text("resourceVersion"));
    }
}

fn has_metadata(schema: Schema) -> bool {
    let metadata = schema.fields().field(1).map(|field| field.kind);
    matches!(metadata, Some(Kind::Message(it)) if it.name == "meta/v1.ObjectMeta")
}

/// Names with what is dropped within them; no names: all of it.
struct Names(&'static [(&'static str, Names)]);

impl Dropped for Names {
    fn child(&self, name: &str) -> Option<&dyn Dropped> {
        let child = self.0.iter().find(|child| child.0 == name)?;
        Some(&child.1)
    }

    fn is_dropped(&self) -> bool {
        self.0.is_empty()
    }
}

static SOME: Names = Names(&[
    (
        "metadata",
        Names(&[
            ("managedFields", Names(&[])),
            ("labels", Names(&[("a", Names(&[]))])),
        ]),
    ),
    (
        "spec",
        Names(&[(
            "containers",
            Names(&[("env", Names(&[])), ("image", Names(&[]))]),
        )]),
    ),
    ("data", Names(&[("a", Names(&[]))])),
    ("status", Names(&[])),
]);

/// Drops nothing: no field has this name.
static NOTHING: Names = Names(&[("-", Names(&[]))]);

fn copies(schema: Schema, message: &[u8], value: Option<&Value>) {
    let (mut whole, mut lean) = (Vec::new(), Vec::new());
    let copied = copy_without(schema, message, &NOTHING, &mut whole);
    assert_eq!(copied.is_ok(), value.is_some(), "{copied:?}");
    assert!(whole.len() <= message.len(), "a longer copy");
    let again = copied.ok().and_then(|()| from_slice(schema, &whole).ok());
    assert!(
        again.as_ref() == value,
        "{value:?}\nis copied as\n{again:?}"
    );
    let dropped = copy_without(schema, message, &SOME, &mut lean);
    assert!(
        lean.len() <= whole.len() || value.is_none(),
        "a longer copy"
    );
    match (dropped, value) {
        (Ok(()), value) => {
            let mut copied = from_slice(schema, &lean).expect("a copy decodes");
            remove(&mut copied, &SOME);
            let expected = value.cloned().map(|mut value| {
                remove(&mut value, &SOME);
                without_empty(value)
            });
            let copied = without_empty(copied);
            assert!(expected.is_none_or(|it| it == copied), "{copied}");
        }
        (Err(error), Some(_)) => panic!("decodes and is not copied: {error}"),
        (Err(_), None) => {}
    }
}

/// Removes the members of these names, within all elements of the lists on the way.
fn remove(value: &mut Value, names: &Names) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|it| remove(it, names)),
        Value::Object(members) => {
            for (name, within) in names.0 {
                match members.get_mut(*name) {
                    Some(member) if !within.0.is_empty() => remove(member, within),
                    _ => drop(members.remove(*name)),
                }
            }
        }
        _ => {}
    }
}

/// Removes members that are null or empty, which protobuf does not tell apart from absent ones.
fn without_empty(value: Value) -> Value {
    let is_empty = |value: &Value| {
        value.is_null()
            || value.as_array().is_some_and(Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty)
    };
    match value {
        Value::Object(members) => {
            let members = members
                .into_iter()
                .map(|(key, it)| (key, without_empty(it)));
            Value::Object(members.filter(|(_, it)| !is_empty(it)).collect())
        }
        Value::Array(elements) => elements.into_iter().map(without_empty).collect(),
        value => value,
    }
}

/// Compares values; the last digit of a number may differ, since serde_json reads it as 64 bits.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            _ if a == b => true,
            (Some(a), Some(b)) => (a - b).abs() <= a.abs() * 1e-12,
            _ => false,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let has_same = |(key, a)| b.get(key).is_some_and(|b| is_same(a, b));
            a.len() == b.len() && a.iter().all(has_same)
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    const PODS: &[u8] = include_bytes!("../tests/data/pods.bin");

    proptest! {
        #[test]
        fn damaged_answers_break_no_promise(
            changes in proptest::collection::vec((0..PODS.len(), any::<u8>()), 0..4),
            length in 0..PODS.len() + 1,
        ) {
            let mut bytes = PODS[..length].to_vec();
            for (place, byte) in changes {
                if let Some(old) = bytes.get_mut(place) {
                    *old = byte;
                }
            }
            super::protobuf_answer(&bytes);
            super::protobuf_frames(&crate::to_frame("ADDED", &bytes));
        }

        #[test]
        fn messages_of_any_kind_break_no_promise(
            bytes in proptest::collection::vec(any::<u8>(), 0..60),
        ) {
            super::protobuf_answer(&bytes);
        }
    }
}
