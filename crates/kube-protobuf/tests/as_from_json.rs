//! Types decode as they do from JSON: keys of maps, borrowed strings and enums.

use std::collections::BTreeMap;
use std::fmt::Debug;

use informer_kube_protobuf::{Deserializer, Schema, from_slice, to_vec};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Decodes an object from both formats; both succeed or both fail.
fn both<T: DeserializeOwned + Debug + PartialEq>(kind: (&str, &str), object: &Value) -> Option<T> {
    let schema = Schema::of(kind.0, kind.1).expect("a built-in kind");
    let message = to_vec(schema, object).expect("encodes");
    // With the members that JSON always has.
    let whole: Value = from_slice(schema, &message).expect("decodes");
    let from_json: Result<T, _> = serde_json::from_str(&whole.to_string());
    let from_protobuf: Result<T, _> = from_slice(schema, &message);
    match (from_json, from_protobuf) {
        (Ok(one), Ok(other)) => {
            assert_eq!(one, other);
            Some(one)
        }
        (Err(_), Err(_)) => None,
        (one, other) => panic!("{one:?} and {other:?} of {object}"),
    }
}

const CONFIG_MAP: (&str, &str) = ("v1", "ConfigMap");
const POD: (&str, &str) = ("v1", "Pod");

#[derive(Debug, Deserialize, PartialEq)]
struct Data<K: Ord> {
    data: BTreeMap<K, String>,
}

#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Key(String);

#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Unit {
    One,
    Two,
}

#[test]
fn keys_of_maps_may_be_of_any_type_that_json_gives_them() {
    let object = |key: &str| json!({"data": {key: "value"}});
    let key = |data: Option<Data<Key>>| data.expect("any text").data.into_keys().next();
    assert_eq!(key(both(CONFIG_MAP, &object("a"))), Some(Key("a".into())));
    assert!(both::<Data<u32>>(CONFIG_MAP, &object("7")).is_some());
    assert!(both::<Data<i8>>(CONFIG_MAP, &object("-7")).is_some());
    assert!(both::<Data<bool>>(CONFIG_MAP, &object("true")).is_some());
    assert!(both::<Data<Option<String>>>(CONFIG_MAP, &object("a")).is_some());
    assert!(both::<Data<Unit>>(CONFIG_MAP, &object("two")).is_some());
    for wrong in ["x", "", " 7", "7 ", "+7", "4294967296"] {
        assert_eq!(both::<Data<u32>>(CONFIG_MAP, &object(wrong)), None);
    }
    assert_eq!(both::<Data<bool>>(CONFIG_MAP, &object("yes")), None);
    assert_eq!(both::<Data<Unit>>(CONFIG_MAP, &object("three")), None);
}

/// JSON within a field has maps of its own, and the members of a message may be taken as a map.
#[test]
fn keys_of_objects_and_messages_are_keys_too() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Metadata<T> {
        metadata: T,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase")]
    struct Managed {
        managed_fields: Vec<Fields>,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase")]
    struct Fields {
        fields_v1: BTreeMap<Key, BTreeMap<u8, Value>>,
    }
    let fields = json!({"f:a": {"1": {}, "2": {}}});
    let object = json!({"metadata": {"name": "a", "managedFields": [{"fieldsV1": fields}]}});
    assert!(both::<Metadata<Managed>>(POD, &object).is_some());
    assert!(both::<Metadata<BTreeMap<Key, Value>>>(POD, &object).is_some());
}

#[test]
fn supplied_names_are_borrowed() {
    #[derive(Deserialize)]
    struct Kind<'a> {
        kind: &'a str,
    }
    let pod = Schema::of("v1", "Pod").expect("a built-in kind");
    let named = Deserializer::new(pod, b"").named("v1", "Pod");
    assert_eq!(Kind::deserialize(named).expect("a kind").kind, "Pod");
}

#[test]
fn enums_are_texts_and_objects_with_one_member() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Spec<T> {
        spec: T,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase")]
    struct Budget {
        max_unavailable: Unavailable,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    enum Unavailable {
        #[serde(rename = "25%")]
        Quarter,
    }
    let budget = ("policy/v1", "PodDisruptionBudget");
    let object = |value: Value| json!({"spec": {"maxUnavailable": value}});
    assert!(both::<Spec<Budget>>(budget, &object(json!("25%"))).is_some());
    assert_eq!(both::<Spec<Budget>>(budget, &object(json!("5%"))), None);
    assert_eq!(both::<Spec<Budget>>(budget, &object(json!(25))), None);

    #[derive(Debug, Deserialize, PartialEq)]
    struct Containers {
        containers: Vec<Container>,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    struct Container {
        lifecycle: Lifecycle,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase")]
    struct Lifecycle {
        post_start: Handler,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "camelCase")]
    enum Handler {
        Exec(Value),
        HttpGet(Value),
        Sleep(Value),
    }
    let pod = |start: Value| json!({"spec": {"containers": [{"lifecycle": {"postStart": start}}]}});
    let exec = json!({"command": ["true"]});
    assert!(both::<Spec<Containers>>(POD, &pod(json!({"exec": exec}))).is_some());
    let two = json!({"exec": exec, "sleep": {"seconds": 1}});
    assert_eq!(both::<Spec<Containers>>(POD, &pod(two)), None);
    assert_eq!(both::<Spec<Containers>>(POD, &pod(json!({}))), None);
}
