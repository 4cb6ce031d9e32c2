//! Copies without some fields decode to the same value without these members, and a copy is
//! refused wherever a decode is. The judge removes members from JSON values, without a schema.

mod bytes;
mod members;

use std::sync::LazyLock;

use bytes::message;
use informer_kube_protobuf::{
    Deserializer, Envelope, ErrorKind, Schema, copy_without, from_slice, to_vec,
};
use members::{Path, Tree, at, is_zero, path, paths, remove, tree, without_empty};
use proptest::prelude::*;
use proptest::sample::Index;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// An object that Go made: its schema and its message.
struct Object {
    kind: String,
    schema: Schema,
    message: Vec<u8>,
}

/// The objects of the equality judge, which are of every kind.
static OBJECTS: LazyLock<Vec<Object>> = LazyLock::new(|| {
    let file = std::env::var("INFORMER_PROTOBUF_OBJECTS");
    let file = file.unwrap_or_else(|_| "tests/data/objects.bin".to_owned());
    let bytes = std::fs::read(&file).expect("the file of objects");
    let (mut rest, mut objects) = (&bytes[..], Vec::new());
    while !rest.is_empty() {
        let [_, kind, _, body] = [(); 4].map(|()| part(&mut rest));
        let envelope = Envelope::parse(body).expect("a body");
        objects.push(Object {
            kind: String::from_utf8(kind.to_vec()).expect("UTF-8"),
            schema: envelope.schema().expect("a built-in kind"),
            message: envelope.raw.to_vec(),
        });
    }
    objects
});

fn part<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let (length, tail) = rest.split_first_chunk::<4>().expect("a length");
    let (part, tail) = tail.split_at(u32::from_be_bytes(*length) as usize);
    *rest = tail;
    part
}

fn decode(schema: Schema, message: &[u8]) -> Result<Value, ErrorKind> {
    from_slice(schema, message).map_err(|error| error.kind().clone())
}

fn decode_without(schema: Schema, message: &[u8], dropped: &Tree) -> Result<Value, ErrorKind> {
    let deserializer = Deserializer::new(schema, message).without(dropped);
    Value::deserialize(deserializer).map_err(|error| error.kind().clone())
}

/// Copies, and checks that the copy is not longer and that `out` keeps its bytes.
fn copy(schema: Schema, message: &[u8], dropped: &Tree) -> Result<Vec<u8>, ErrorKind> {
    let mut out = b"before".to_vec();
    let result = copy_without(schema, message, dropped, &mut out);
    let copy = out.strip_prefix(b"before").expect("is kept").to_vec();
    assert!(copy.len() <= message.len(), "{} bytes", copy.len());
    match result {
        Ok(()) => Ok(copy),
        Err(error) => {
            assert_eq!(copy, b"", "nothing is appended");
            assert!(error.offset().is_some_and(|at| at <= message.len()));
            Err(error.kind().clone())
        }
    }
}

#[test]
fn a_copy_of_all_fields_is_the_message() {
    for object in OBJECTS.iter() {
        let copy = copy(object.schema, &object.message, &Tree::default());
        let copy = copy.unwrap_or_else(|error| panic!("{:?}: {error:?}", object.schema));
        let (before, after) = (
            decode(object.schema, &object.message),
            decode(object.schema, &copy),
        );
        assert_eq!(before, after, "{:?}", object.schema);
        assert_eq!(copy, object.message, "{:?}", object.schema);
    }
    assert!(OBJECTS.len() > 300, "{} objects", OBJECTS.len());
}

#[test]
fn a_pod_without_managed_fields_is_the_pod_that_never_had_them() {
    let list = include_bytes!("data/pods.json");
    let list: Value = serde_json::from_slice(list).expect("JSON");
    let schema = Schema::of("v1", "Pod").expect("a built-in kind");
    let mut pod = list["items"][0].clone();
    let whole = to_vec(schema, &pod).expect("encodes");
    let dropped = path("metadata/managedFields");
    let lean = copy(schema, &whole, &tree(std::slice::from_ref(&dropped))).expect("copies");
    remove(&mut pod, &dropped);
    let again = to_vec(schema, &pod).expect("encodes");
    assert!(lean.len() <= again.len() && again.len() < whole.len() * 3 / 4);
    assert_eq!(decode(schema, &lean), decode(schema, &again));
}

#[test]
fn what_is_dropped_is_not_checked_and_the_rest_is() {
    let schema = Schema::of("v1", "Pod").expect("a built-in kind");
    // The JSON of managed fields is field 7 of their entry, and field 17 of the metadata.
    let no_json = message().put(17, &message().put(7, &message().raw(1, b"{")));
    let pod = message().put(1, &no_json);
    let error = copy(schema, pod.bytes(), &Tree::default()).expect_err("no JSON");
    assert!(matches!(error, ErrorKind::Json(_)), "{error:?}");
    for dropped in [
        "metadata",
        "metadata/managedFields",
        "metadata/managedFields/fieldsV1",
    ] {
        let copy = copy(schema, pod.bytes(), &tree(&[path(dropped)]));
        assert!(copy.is_ok(), "{dropped}: {copy:?}");
    }
    let no_text = message().put(1, &message().raw(1, b"\xff"));
    let dropped = tree(&[path("metadata/managedFields")]);
    let error = copy(schema, no_text.bytes(), &dropped).expect_err("not UTF-8");
    assert_eq!(error, ErrorKind::Utf8);
    // The whole field has to be there.
    let torn = &pod.bytes()[..pod.bytes().len() - 1];
    assert_eq!(
        copy(schema, torn, &tree(&[path("metadata")])),
        Err(ErrorKind::Truncated)
    );
}

#[test]
fn a_decode_leaves_out_members_of_json_within_a_field_too() {
    let schema = Schema::of("v1", "Pod").expect("a built-in kind");
    let managed = |json: Value| json!([{"manager": "m", "fieldsV1": json}]);
    let json = json!({"f:spec": {"f:a": {}, "f:b": [{"x": 1, "y": 2}]}, "f:status": {}});
    let mut pod = json!({"metadata": {"name": "web", "managedFields": managed(json)}});
    let message = to_vec(schema, &pod).expect("encodes");
    let dropped = ["f:status", "f:spec/f:a", "f:spec/f:b/x"];
    let dropped = dropped.map(|end| path(&format!("metadata/managedFields/fieldsV1/{end}")));
    let decoded = decode_without(schema, &message, &tree(&dropped)).expect("decodes");
    pod["metadata"]["managedFields"] = managed(json!({"f:spec": {"f:b": [{"y": 2}]}}));
    assert_eq!(
        decoded["metadata"]["managedFields"],
        pod["metadata"]["managedFields"]
    );
    let whole = copy(schema, &message, &tree(&dropped)).expect("copies");
    assert_eq!(decode(schema, &whole), decode(schema, &message));
}

#[test]
fn names_are_supplied_whatever_is_dropped() {
    let schema = Schema::of("v1", "Pod").expect("a built-in kind");
    let message = to_vec(schema, &json!({"metadata": {"name": "web"}})).expect("encodes");
    let dropped = tree(&[path("kind"), path("spec"), path("status"), path("metadata")]);
    let named = Deserializer::new(schema, &message).named("v1", "Pod");
    let pod = Value::deserialize(named.without(&dropped)).expect("decodes");
    assert_eq!(pod, json!({"apiVersion": "v1", "kind": "Pod"}));
    // A visitor may ask for any type.
    #[derive(Debug, Deserialize, PartialEq)]
    enum Kind {
        Pod,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Typed {
        api_version: Option<String>,
        kind: Option<Kind>,
    }
    let typed = Typed::deserialize(named).expect("decodes");
    assert_eq!(
        (typed.api_version.as_deref(), typed.kind),
        (Some("v1"), Some(Kind::Pod))
    );
}

#[test]
fn unknown_fields_stay_if_they_are_well_formed() {
    let schema = Schema::of("v1", "ConfigMap").expect("a built-in kind");
    let entry = |key| message().text(1, key).text(2, "b").text(3, "new");
    let metadata = |namespace: &str| {
        let metadata = message().text(1, "web").text(3, namespace);
        message().put(1, &metadata.raw(60, b"of a newer server"))
    };
    let tail = |object: bytes::Message| object.put(2, &entry("b")).raw(61, b"of a newer server");
    let whole = tail(metadata("team").put(2, &entry("a")));
    let dropped = tree(&[path("data/a"), path("metadata/namespace")]);
    let copied = copy(schema, whole.bytes(), &dropped).expect("copies");
    let expected = tail(message().put(1, &message().text(1, "web").raw(60, b"of a newer server")));
    assert_eq!(copied, expected.bytes());
    let group = message().varint(62 << 3 | 3);
    assert_eq!(
        copy(schema, group.bytes(), &Tree::default()),
        Err(ErrorKind::Group)
    );
}

#[test]
fn nesting_is_bounded_where_the_decoder_bounds_it() {
    let schema = Schema::message("apiextensions/v1.JSONSchemaProps").expect("in the table");
    for number in [28, 25, 29] {
        let nested = |depth| {
            (0..depth).fold(message(), |inner, _| match number {
                // An entry of `properties`.
                29 => message().put(29, &message().text(1, "a").put(2, &inner)),
                // An element of `allOf`, or `not`.
                number => message().put(number, &inner),
            })
        };
        let mut depths = (1..200).map(nested);
        let same = depths.all(|message| {
            let copied = copy(schema, message.bytes(), &Tree::default());
            copied.map(drop) == decode(schema, message.bytes()).map(drop)
        });
        assert!(same, "field {number}");
        let error = copy(schema, nested(200).bytes(), &Tree::default());
        assert_eq!(error, Err(ErrorKind::TooDeep));
    }
}

#[test]
fn numbers_that_share_a_tag_stay_together() {
    let schema = Schema::message("core/v1.PodSecurityContext").expect("in the table");
    // `supplementalGroups` is field 4.
    let packed = message().raw(4, &[1, 2, 0x80, 1]).int(4, 7);
    let copied = copy(schema, packed.bytes(), &Tree::default()).expect("copies");
    assert_eq!(copied, packed.bytes());
    let torn = message().raw(4, &[1, 2, 0x80]);
    assert!(copy(schema, torn.bytes(), &Tree::default()).is_err());
}

/// Objects whose bytes are damaged one by one.
fn damaged() -> Vec<(Schema, Vec<u8>)> {
    let object = |kind: (&str, &str), object: Value| {
        let schema = Schema::of(kind.0, kind.1).expect("a built-in kind");
        (schema, to_vec(schema, &object).expect("encodes"))
    };
    let pod = json!({
        "metadata": {"name": "web", "uid": "u", "labels": {"app": "web", "": "x"},
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "managedFields": [{"manager": "m", "fieldsV1": {"f:a": {".": {}}}}]},
        "spec": {"containers": [{"name": "c", "ports": [{"containerPort": 80}],
            "resources": {"limits": {"cpu": "1"}},
            "livenessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 9}}],
            "securityContext": {"supplementalGroups": [1, 70000]}},
    });
    let schema = json!({"properties": {"a": {"type": "string", "default": {"x": [1, 2]},
        "maximum": 1.5, "items": {"type": "object"}, "additionalProperties": true}}});
    let definition = json!({"metadata": {"name": "d"}, "spec": {"versions": [
        {"name": "v1", "schema": {"openAPIV3Schema": schema}}]}});
    let review = json!({"metadata": {}, "spec": {"extra": {"a": ["b", "c"], "d": []}}});
    vec![
        object(("v1", "Pod"), pod),
        object(
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
            definition,
        ),
        object(
            ("certificates.k8s.io/v1", "CertificateSigningRequest"),
            review,
        ),
    ]
}

#[test]
fn a_copy_is_refused_wherever_a_decode_is() {
    let (mut refused, mut accepted) = (0, 0);
    for (schema, original) in damaged() {
        let dropped = tree(&[
            path("metadata/managedFields"),
            path("spec/containers/ports"),
        ]);
        for place in 0..original.len() {
            for change in [0x01, 0x02, 0x08, 0x40, 0x80, 0xff] {
                let mut message = original.clone();
                message[place] ^= change;
                let decoded = decode(schema, &message);
                let copied = copy(schema, &message, &Tree::default());
                match (&decoded, copied) {
                    (Ok(value), Ok(copied)) => {
                        accepted += 1;
                        assert_eq!(decode(schema, &copied).as_ref(), Ok(value));
                    }
                    (Err(error), Err(copy_error)) => {
                        refused += 1;
                        assert_eq!(error, &copy_error);
                    }
                    (_, copied) => panic!("{place} ^ {change}: {decoded:?}, {copied:?}"),
                }
                let lean = copy(schema, &message, &dropped);
                assert!(lean.is_ok() || decoded.is_err(), "{place} ^ {change}");
                if let Ok(lean) = lean {
                    assert!(decode(schema, &lean).is_ok(), "{place} ^ {change}");
                }
            }
        }
    }
    assert!(refused > 500 && accepted > 500, "{refused}, {accepted}");
}

proptest! {
    #[test]
    fn a_copy_lacks_the_dropped_members_alone(
        object in any::<Index>(),
        chosen in proptest::collection::vec(any::<Index>(), 1..4),
    ) {
        let object = object.get(&OBJECTS);
        let schema = object.schema;
        let mut value = decode(schema, &object.message).expect("Go encoded it");
        let mut all = Vec::new();
        paths(&object.kind, &value, &mut Path::new(), &mut all);
        prop_assume!(!all.is_empty());
        let chosen: Vec<Path> = chosen.iter().map(|index| index.get(&all).clone()).collect();

        let copied = copy(schema, &object.message, &tree(&chosen)).expect("copies");
        let mut copied = decode(schema, &copied).expect("a copy decodes");
        for path in &chosen {
            let mut zeros = true;
            at(&copied, path, &mut |member| zeros &= is_zero(member));
            prop_assert!(zeros, "{path:?} is still there: {copied}");
            remove(&mut copied, path);
            remove(&mut value, path);
        }
        let decoded = decode_without(schema, &object.message, &tree(&chosen));
        prop_assert_eq!(decoded.as_ref(), Ok(&value), "{:?}", chosen);
        prop_assert_eq!(without_empty(copied), without_empty(value), "{:?}", chosen);
    }

    // Lengths of messages take one, two or three bytes; a dropped field changes that.
    #[test]
    fn lengths_fit_however_much_is_dropped(
        kept in 0..300_usize,
        dropped in proptest::sample::select(vec![1, 50, 127, 128, 200, 16_300, 16_384, 17_000]),
    ) {
        let schema = Schema::of("v1", "Pod").expect("a built-in kind");
        let template = |annotations: Map<String, Value>| json!({
            "metadata": {"annotations": annotations},
            "spec": {"containers": [{"name": "c".repeat(kept), "image": "i".repeat(dropped)}]},
        });
        let annotations = [("a", "b".repeat(kept)), ("d/e", "f".repeat(dropped))];
        let annotations = annotations.map(|(key, text)| (key.to_owned(), json!(text)));
        let object = template(annotations.into_iter().collect());
        let paths: [Path; 2] = [
            ["metadata", "annotations", "d/e"].map(str::to_owned).to_vec(),
            path("spec/containers/image"),
        ];
        let whole = to_vec(schema, &object).expect("encodes");
        let copied = copy(schema, &whole, &tree(&paths)).expect("copies");
        let mut expected = decode(schema, &whole).expect("decodes");
        paths.iter().for_each(|path| remove(&mut expected, path));
        prop_assert_eq!(decode(schema, &copied), Ok(expected));
    }
}
