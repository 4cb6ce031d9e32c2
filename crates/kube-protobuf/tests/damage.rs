//! Damaged messages are typed errors: no panic, and no allocation that a length states.

mod bytes;

use bytes::{Message, message};
use informer_kube_protobuf::{
    Envelope, ErrorKind, Identity, ListParts, Schema, WatchEvent, from_slice, split_frame, to_body,
};
use k8s_openapi::api::core::v1::Pod;
use proptest::prelude::*;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

const PODS: &[u8] = include_bytes!("data/pods.bin");

fn pod() -> Schema {
    Schema::of("v1", "Pod").expect("a built-in kind")
}

fn error(bytes: &[u8]) -> ErrorKind {
    refused(pod(), bytes)
}

/// The error of a message of the table.
fn error_of(message: &str, bytes: &[u8]) -> ErrorKind {
    refused(Schema::message(message).expect("in the table"), bytes)
}

fn refused(schema: Schema, bytes: &[u8]) -> ErrorKind {
    let result: Result<Value, _> = from_slice(schema, bytes);
    result.expect_err("damaged").kind().clone()
}

#[test]
fn every_damage_has_an_error_of_its_own() {
    assert_eq!(error(&[0x0a]), ErrorKind::Truncated);
    assert_eq!(error(&[0x0a, 5, 0]), ErrorKind::Truncated);
    assert_eq!(error(&[0x0a, 0x80]), ErrorKind::Truncated);
    let absurd = message().varint(1 << 3 | 2).varint(1 << 40);
    assert_eq!(error(absurd.bytes()), ErrorKind::Length(1 << 40));
    assert_eq!(error(&[0xff; 11]), ErrorKind::Varint);
    assert_eq!(error(&[0x02]), ErrorKind::Tag(2));
    assert_eq!(error(&[0x0f]), ErrorKind::Tag(15));
    let wire = ErrorKind::WireType {
        expected: 2,
        found: 0,
    };
    assert_eq!(error(message().int(1, 1).bytes()), wire);
}

#[test]
fn a_body_has_a_message_and_its_fields_have_their_types() {
    let kind = |bytes: &[u8]| {
        let body = [b"k8s\0", bytes].concat();
        Envelope::parse(&body).expect_err("damaged").kind().clone()
    };
    let wire = |expected, found| ErrorKind::WireType { expected, found };
    let types = message().text(1, "v1").text(2, "ConfigMap");
    let body = message().put(1, &types);
    assert_eq!(kind(b""), ErrorKind::Truncated);
    assert_eq!(kind(body.clone().int(2, 5).bytes()), wire(2, 0));
    assert_eq!(kind(message().int(1, 5).bytes()), wire(2, 0));
    let types = types.text(2, "Secret");
    assert_eq!(kind(message().put(1, &types).bytes()), ErrorKind::Repeated);
    let types = message().text(1, "v1").int(2, 5);
    assert_eq!(kind(message().put(1, &types).bytes()), wire(2, 0));
}

#[test]
fn values_with_a_text_of_their_own_have_fields_of_their_types() {
    let wire = |expected, found| ErrorKind::WireType { expected, found };
    let text = message().text(1, "1");
    let number = message().int(1, 5);
    // `creationTimestamp`, `labels`, and the JSON of managed fields.
    let meta = |number, value: &Message| message().put(number, value);
    let object = "meta/v1.ObjectMeta";
    assert_eq!(error_of(object, meta(8, &text).bytes()), wire(0, 2));
    let label = message().int(1, 5).text(2, "b");
    assert_eq!(error_of(object, meta(11, &label).bytes()), wire(2, 0));
    let fields = meta(17, &meta(7, &number));
    assert_eq!(error_of(object, fields.bytes()), wire(2, 0));
    // `port`, an integer or a string, and the quantity of a resource.
    let action = "core/v1.HTTPGetAction";
    assert_eq!(error_of(action, meta(2, &text).bytes()), wire(0, 2));
    let limits = meta(1, &message().text(1, "cpu").put(2, &number));
    let resources = "core/v1.ResourceRequirements";
    assert_eq!(error_of(resources, limits.bytes()), wire(2, 0));
}

#[test]
fn no_element_of_a_list_in_a_message_of_its_own_is_lost() {
    let empty = message();
    let (one, many) = (
        |it: Message| it.put(1, &message()),
        |it: Message| it.put(2, &message()),
    );
    let or_array = "apiextensions/v1.JSONSchemaPropsOrArray";
    let apart = many(one(many(empty.clone())));
    assert_eq!(error_of(or_array, apart.bytes()), ErrorKind::Repeated);
    let twice = one(one(empty.clone()));
    assert_eq!(error_of(or_array, twice.bytes()), ErrorKind::Repeated);
    let or_bool = "apiextensions/v1.JSONSchemaPropsOrBool";
    let twice = many(many(empty.clone()));
    assert_eq!(error_of(or_bool, twice.bytes()), ErrorKind::Repeated);

    // The values of `extra` are lists of strings, each in a message.
    let review = "authentication/v1.UserInfo";
    let values = |list: &Message| {
        let entry = message().text(1, "a").put(2, list);
        error_of(review, message().put(4, &entry).bytes())
    };
    let first = message().text(1, "a");
    let apart = first.clone().int(2, 0).text(1, "b");
    assert_eq!(values(&apart), ErrorKind::Repeated);
    assert_eq!(values(&first.clone().varint(2 << 3)), ErrorKind::Truncated);
    assert_eq!(values(&first.varint(2 << 3 | 3)), ErrorKind::Group);
    let number = ErrorKind::WireType {
        expected: 2,
        found: 0,
    };
    assert_eq!(values(&message().int(1, 5)), number);
}

#[test]
fn nesting_is_bounded() {
    let schema = Schema::message("apiextensions/v1.JSONSchemaProps").expect("in the table");
    let nested = |depth| {
        // `not` is field 28, a message of the same kind.
        (0..depth).fold(message(), |inner, _| message().put(28, &inner))
    };
    let result: Result<Value, _> = from_slice(schema, nested(100).bytes());
    assert!(result.is_ok(), "{result:?}");
    let result: Result<Value, _> = from_slice(schema, nested(200).bytes());
    assert_eq!(result.expect_err("too deep").kind(), &ErrorKind::TooDeep);
    // What is ignored is skipped by its length, however deep it is.
    let result: Result<IgnoredAny, _> = from_slice(schema, nested(200).bytes());
    assert!(result.is_ok());
}

#[test]
fn raw_values_are_refused_by_name() {
    let bytes = message().put(1, &message());
    let result: Result<std::collections::BTreeMap<String, Box<serde_json::value::RawValue>>, _> =
        from_slice(pod(), bytes.bytes());
    assert_eq!(
        result.expect_err("JSON only").kind(),
        &ErrorKind::JsonOnly("RawValue")
    );
}

#[test]
fn an_identity_that_is_there_twice_is_ambiguous() {
    let once = message()
        .text(1, "web")
        .text(3, "team")
        .text(5, "u")
        .text(6, "7");
    let identity = message().put(1, &once);
    let identity = Identity::read(identity.bytes()).expect("an identity");
    assert_eq!(
        (identity.uid, identity.resource_version),
        (&b"u"[..], &b"7"[..])
    );
    assert!(!identity.is_ambiguous);
    for number in [1, 3, 5, 6] {
        let twice = message().put(1, &once.clone().text(number, "other"));
        let identity = Identity::read(twice.bytes()).expect("an identity");
        let last = match number {
            1 => identity.name,
            3 => identity.namespace,
            5 => identity.uid,
            _ => identity.resource_version,
        };
        assert_eq!((last, identity.is_ambiguous), (&b"other"[..], true));
        assert_eq!(error(twice.bytes()), ErrorKind::Repeated);
    }
    let twice = message().put(1, &once).put(1, &message().text(1, "last"));
    let identity = Identity::read(twice.bytes()).expect("an identity");
    assert_eq!((identity.name, identity.uid), (&b"last"[..], &b""[..]));
    assert!(identity.is_ambiguous);
    // Other fields of the metadata do not identify the object.
    let twice = message().put(1, &once.text(2, "a").text(2, "b"));
    let identity = Identity::read(twice.bytes()).expect("an identity");
    assert!(!identity.is_ambiguous);
}

#[test]
fn damage_behind_the_metadata_leaves_the_identity() {
    let metadata = message().put(1, &message().text(1, "web"));
    let length = metadata.bytes().len();
    // A torn tag, a torn length, a group, a metadata of another wire type.
    for damage in [&[0x80][..], &[0x12, 9, 0], &[0x13], &[0x08, 1], &[0xff; 11]] {
        let object = [metadata.bytes(), damage].concat();
        let identity = Identity::read(&object).expect("an identity");
        assert_eq!((identity.name, identity.is_ambiguous), (&b"web"[..], false));
        assert!(from_slice::<Value>(pod(), &object).is_err());
        let before = [damage, metadata.bytes()].concat();
        assert!(Identity::read(&before).is_err(), "{damage:?} before it");
        let within = message().raw(1, &[&metadata.bytes()[2..], damage].concat());
        assert!(Identity::read(within.bytes()).is_err(), "{damage:?} in it");
    }
    for end in 1..length {
        assert!(Identity::read(&metadata.bytes()[..end]).is_err(), "{end}");
    }
}

#[test]
fn frames_are_bounded_before_they_are_complete() {
    let frame = informer_kube_protobuf::to_frame("ADDED", b"k8s\0");
    for end in 0..frame.len() {
        assert_eq!(
            split_frame(&frame[..end], 1024).expect("no error yet"),
            None
        );
    }
    let (event, rest) = split_frame(&frame, 1024)
        .expect("no error")
        .expect("complete");
    assert!(rest.is_empty());
    let event = WatchEvent::parse(event).expect("an event");
    assert_eq!((event.event_type, event.object), ("ADDED", &b"k8s\0"[..]));
    let error = split_frame(&frame[..4], 8).expect_err("longer than 8 bytes");
    assert_eq!(error.kind(), &ErrorKind::Frame(frame.len() as u32 - 4));
    assert!(split_frame(&[0; 4], 1024).is_err(), "an empty frame");
}

#[test]
fn debug_output_has_no_values() {
    let body = to_body(&json!({
        "apiVersion": "v1", "kind": "Secret", "stringData": {"password": "hunter2"}
    }));
    let body = body.expect("encodes");
    let envelope = Envelope::parse(&body).expect("a body");
    let part = ListParts::new(envelope.raw);
    let event = informer_kube_protobuf::to_frame("ADDED", &body);
    let event = WatchEvent::parse(&event[4..]).expect("an event");
    let shown = format!("{envelope:?} {part:?} {event:?}");
    assert!(
        shown.contains("Secret") && !shown.contains("hunter2"),
        "{shown}"
    );
    let bytes = format!("{:?}", b"hunter2");
    assert!(!shown.contains(bytes.trim_matches(['[', ']'])), "{shown}");
}

#[test]
fn encoding_errors_name_the_member() {
    let object = json!({
        "apiVersion": "v1", "kind": "Pod",
        "spec": {"containers": [{}, {"ports": [{"containerPort": "http"}]}]}
    });
    let error = to_body(&object).expect_err("a port is no string");
    assert_eq!(error.path(), "spec.containers[1].ports[0].containerPort");
    let object = json!({"apiVersion": "example.org/v1", "kind": "Widget"});
    assert!(to_body(&object).is_err());
}

fn decode_everything(bytes: &[u8], schema: Schema) {
    let value: Result<Value, _> = from_slice(schema, bytes);
    if let Err(error) = &value {
        assert!(
            error.offset().is_none_or(|offset| offset <= bytes.len()),
            "{error}"
        );
    }
    let _pod: Result<Pod, _> = from_slice(pod(), bytes);
    let _identity = Identity::read(bytes);
    let _event = WatchEvent::parse(bytes);
    let _object = Envelope::parse(bytes).and_then(|it| it.decode::<Value>());
    let _parts = ListParts::new(bytes).count();
}

proptest! {
    #[test]
    fn any_bytes_give_a_value_or_an_error(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        kind in 0..Schema::kinds().count(),
    ) {
        let (api_version, kind) = Schema::kinds().nth(kind).expect("a kind");
        decode_everything(&bytes, Schema::of(api_version, kind).expect("listed"));
    }

    #[test]
    fn a_changed_answer_gives_a_value_or_an_error(
        changes in proptest::collection::vec((0..PODS.len(), any::<u8>()), 0..4),
        length in 0..PODS.len() + 1,
    ) {
        let mut bytes = PODS[..length].to_vec();
        for (place, byte) in changes {
            if let Some(old) = bytes.get_mut(place) {
                *old = byte;
            }
        }
        decode_everything(&bytes, Schema::of("v1", "PodList").expect("a built-in kind"));
    }

    #[test]
    fn config_maps_are_the_same_after_encoding(
        name in any::<String>(),
        data in proptest::collection::btree_map(any::<String>(), any::<String>(), 1..4),
        immutable in any::<Option<bool>>(),
    ) {
        let mut object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": format!("n{name}")}, "data": data
        });
        if let Some(immutable) = immutable {
            object["immutable"] = json!(immutable);
        }
        let body = to_body(&object).expect("encodes");
        let again: Value = Envelope::parse(&body).and_then(|it| it.decode()).expect("decodes");
        prop_assert_eq!(again, object);
    }
}
