//! All parsers give the same result: an object decodes as serde_json alone decodes it.

use std::{collections::BTreeMap, fmt::Debug, sync::Arc};

use informer_reflector::DecodeErrorCategory;
use k8s_openapi::api::core::v1::Pod;
use proptest::prelude::*;
use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Value, json, value::RawValue};

use super::{hostile::damaged, requests::decode, scripted};
use crate::{
    Projection, SerdeDecoder,
    decode::{
        on_demand::OnDemand,
        shape::{self, TypeNames, checked::Checked, repeated::is_repeated},
        tape::{Misfit, Scratch},
    },
};

/// As many of serde's ways as fit into one type.
#[derive(Debug, Deserialize, PartialEq)]
#[serde(default)]
struct Odd {
    a: Option<Value>,
    b: BTreeMap<i16, u8>,
    c: (i64, Option<String>),
    d: Choice,
    e: Vec<f64>,
    f: i128,
    k: Option<char>,
    metadata: Newtype,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
struct Newtype(Option<BTreeMap<String, bool>>);

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Choice {
    #[default]
    A,
    B(u64),
    C {
        a: i8,
    },
    D(String, ()),
}

impl Default for Odd {
    fn default() -> Self {
        Self {
            a: None,
            b: BTreeMap::new(),
            c: (0, None),
            d: Choice::A,
            e: Vec::new(),
            f: 0,
            k: None,
            metadata: Newtype::default(),
        }
    }
}

fn decoded<T: DeserializeOwned + Debug + 'static>(json: &str) -> Option<String> {
    let body = decode::<T>(&scripted::source(), json, true);
    body.object().map(|object| format!("{object:?}"))
}

/// Compared as shown, in which `-0.0` is not `0.0`. Who says twice who they are, neither decodes.
fn assert_same<T: DeserializeOwned + Debug + 'static>(json: &str) {
    let expected = serde_json::from_str::<T>(json).ok();
    let in_text = is_repeated(&mut serde_json::Deserializer::from_str(json));
    let expected = expected.filter(|_| !matches!(in_text, Ok(true)));
    let expected = expected.map(|object| format!("{object:?}"));
    assert_eq!(decoded::<T>(json), expected, "{json}");
    // Never a panic, and the same value from text that has been checked.
    let on_demand = SerdeDecoder::default().decode_checked_text::<T>(json.as_bytes());
    let is_checked = serde_json::from_str::<Checked>(json).is_ok();
    if is_checked && !matches!(in_text, Ok(true)) {
        let on_demand = on_demand.ok().map(|object| format!("{object:?}"));
        assert_eq!(on_demand, expected, "{json}");
    }
}

fn assert_same_in_all(json: &str) {
    assert_same::<Value>(json);
    assert_same::<Pod>(json);
    assert_same::<Odd>(json);
    assert_same::<Option<Vec<Value>>>(json);
}

const LEAVES: [&str; 48] = [
    "0",
    "-0",
    "-0.0",
    "0.0",
    "-1",
    "7",
    "255",
    "256",
    "01",
    "-01",
    "1.",
    ".5",
    "+1",
    "-",
    "1.5",
    "0.1e1",
    "1e5",
    "1E+2",
    "1e400",
    "-1e400",
    "1e-400",
    "123456789.123456789123456789",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "NaN",
    "true",
    "false",
    "null",
    "tru",
    "nulll",
    r#""""#,
    r#""a""#,
    r#""b""#,
    r#""1""#,
    r#""\u0041\n""#,
    r#""\ud83d\ude00""#,
    r#""\ud83d""#,
    r#""\ude00""#,
    r#""\x""#,
    "\"\u{1}\"",
    "\"\t\"",
    "\"\u{e9}\u{1f600}\"",
    r#""\"""#,
];
const KEYS: [&str; 14] = [
    "\"a\"",
    "\"b\"",
    "\"c\"",
    "\"d\"",
    "\"e\"",
    "\"f\"",
    "\"k\"",
    "\"metadata\"",
    "\"spec\"",
    "\"1\"",
    "\"-0\"",
    "\"+1\"",
    r#""\u0061""#,
    "\"name\"",
];
const GAPS: [&str; 8] = ["", "", "", "", "", " ", "\n\t\r", "\u{b}"];

fn text() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(&LEAVES[..]).prop_map(str::to_owned);
    leaf.prop_recursive(6, 40, 5, |inner| {
        let gap = || prop::sample::select(&GAPS[..]);
        let member = (prop::sample::select(&KEYS[..]), gap(), inner.clone(), gap());
        let member = member.prop_map(|(key, one, value, two)| format!("{key}{one}:{value}{two}"));
        let list = prop::collection::vec(inner, 0..4);
        let object = prop::collection::vec(member, 0..6);
        prop_oneof![
            1 => list.prop_map(|all| format!("[{}]", all.join(","))),
            3 => object.prop_map(|all| format!("{{{}}}", all.join(","))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// Well-formed or nearly so.
    #[test]
    fn both_parsers_agree(json in text()) {
        assert_same_in_all(&json);
    }

    /// The same, with bytes cut out, put in and changed.
    #[test]
    fn both_parsers_agree_on_what_is_damaged(
        json in text().prop_flat_map(|json| damaged(json.into_bytes())),
    ) {
        assert_same_in_all(&String::from_utf8_lossy(&json));
    }

    /// A real object, damaged.
    #[test]
    fn both_parsers_agree_on_damaged_pods(json in damaged(pod().to_string().into_bytes())) {
        assert_same_in_all(&String::from_utf8_lossy(&json));
    }
}

/// Every leaf alone, in a list, as a member and where each field of a type wants another.
#[test]
fn both_parsers_agree_on_every_leaf() {
    for leaf in LEAVES {
        assert_same_in_all(leaf);
        assert_same_in_all(&format!(" [{leaf} , {leaf}]\n"));
        for key in KEYS {
            assert_same_in_all(&format!("{{{key}:{leaf}}}"));
            assert_same_in_all(&format!("{{{key}:[{leaf}]}}"));
            assert_same_in_all(&format!("{{{key}:{{{key}:{leaf}}}}}"));
            assert_same_in_all(&format!(
                "{{\"d\":{{{key}:{leaf}}},\"b\":{{{key}:{leaf}}}}}"
            ));
        }
    }
}

/// Every byte at every place of a small text.
#[test]
fn both_parsers_agree_on_every_byte() {
    let small = r#" {"a" : [1,"x\n"] } "#;
    for at in 0..=small.len() {
        for byte in 0..=0x7f_u8 {
            let mut inserted = small.as_bytes().to_vec();
            inserted.insert(at, byte);
            assert_same::<Value>(std::str::from_utf8(&inserted).expect("ASCII"));
            if at < small.len() {
                inserted.remove(at + 1);
                assert_same::<Value>(std::str::from_utf8(&inserted).expect("ASCII"));
            }
        }
    }
}

/// FM-55: depth, in what is wanted and in what is skipped.
#[test]
fn both_parsers_agree_on_depth() {
    for depth in [1, 120, 125, 126, 127, 128, 129, 2000] {
        let lists = "[".repeat(depth) + &"]".repeat(depth);
        let objects = r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth);
        for nested in [lists, objects] {
            assert_same_in_all(&nested);
            assert_same_in_all(&format!(r#"{{"a":{nested}}}"#));
            assert_same_in_all(&format!(r#"{{"skipped":{nested}}}"#));
        }
    }
}

/// Types that look behind serde's data model still work, and are not read twice for ever.
#[test]
fn what_only_serde_json_decodes_is_decoded() {
    #[derive(Debug, Deserialize)]
    struct Raw {
        a: Box<RawValue>,
    }
    let source = scripted::source::<Raw>();
    for _ in 0..1000 {
        let body = decode(&source, r#"{"a": [1, 2.50] }"#, true);
        assert_eq!(body.object().expect("decodes").a.get(), "[1, 2.50]");
    }
}

/// Objects as servers send them are read on demand, without another parser.
#[test]
fn objects_are_read_on_demand() {
    fn read<T: DeserializeOwned>(json: &str) -> Result<T, Misfit> {
        let mut text = OnDemand::new(json);
        let object = T::deserialize(&mut text)?;
        text.end().map(|()| object)
    }
    #[derive(Debug, Deserialize, PartialEq)]
    struct Partial {
        spec: Spec,
        status: Value,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    struct Spec {
        priority: f64,
    }
    for json in [pod().to_string(), format!("{:#}", pod())] {
        let expected: Pod = serde_json::from_str(&json).expect("a pod");
        assert_eq!(read::<Pod>(&json).expect("read on demand"), expected);
        let expected: Partial = serde_json::from_str(&json).expect("a pod");
        assert_eq!(read::<Partial>(&json).expect("read on demand"), expected);
        assert_eq!(read::<Value>(&json).expect("read on demand"), pod());
        for cut in 0..json.len() {
            assert!(read::<Pod>(&json[..cut]).is_err(), "{cut}");
        }
    }
}

fn pod() -> Value {
    let container = |name: &str, count: usize| {
        let variables: Vec<_> = (0..count)
            .map(|n| json!({"name": format!("E{n}")}))
            .collect();
        json!({"name": name, "env": variables, "ports": [{"containerPort": 1}]})
    };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "a", "finalizers": ["x", "y", "z"],
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{\n}", "b": "c"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u"}],
            "managedFields": [{"fieldsV1": {"f:a": {}, "f:b": [1, {}]}}, {"manager": "m"}]
        },
        "spec": {
            "containers": [container("x", 1), container("y", 3), container("z", 5)],
            "tolerations": [{"key": "a"}, {"key": "b"}],
            "nodeName": "n", "priority": -5
        },
        "status": {"phase": "Running", "conditions": [
            {"type": "a", "status": "True"}, {"type": "b", "status": "True"},
            {"type": "c", "status": "False"}
        ]}
    })
}

fn has_no_spare(pod: &Pod) -> bool {
    fn exact<T>(list: &Vec<T>) -> bool {
        list.capacity() == list.len() && !list.is_empty()
    }
    let spec = pod.spec.as_ref().expect("some");
    let variables = |container: &k8s_openapi::api::core::v1::Container| {
        container.env.as_ref().is_some_and(exact) && container.ports.as_ref().is_some_and(exact)
    };
    let conditions = pod
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    let meta = &pod.metadata;
    meta.finalizers.as_ref().is_some_and(exact)
        && meta.owner_references.as_ref().is_some_and(exact)
        && meta.managed_fields.as_ref().is_none_or(exact)
        && exact(&spec.containers)
        && spec.containers.iter().all(variables)
        && spec.tolerations.as_ref().is_some_and(exact)
        && conditions.is_some_and(exact)
}

/// What is kept holds no spare capacity, projected or not, from a list or from a watch; and a pod
/// needs no second parser.
#[test]
fn vectors_are_as_long_as_their_lists() {
    let names = TypeNames {
        api_version: "v1",
        kind: "Pod",
    };
    let json = pod().to_string();
    for projection in [Projection::new(), Projection::lean()] {
        for names in [None, Some(names)] {
            let pod = Scratch::default().read(&json, |mut tokens| {
                shape::decode::<Pod, _>(&mut tokens, &projection, names)
            });
            assert!(has_no_spare(&pod.expect("the tape answers")));
        }
    }
    let expected: Pod = serde_json::from_str(&json).expect("a pod");
    assert!(!has_no_spare(&expected), "this test tests nothing");
}

/// A projection drops the same from a tape as from a text.
#[test]
fn a_projection_is_the_same_on_both() {
    let projection = Projection::lean()
        .drop_path("spec.containers.env")
        .drop_path("status");
    let json = pod().to_string();
    let mut source = scripted::source::<Value>();
    source.decoder = Arc::new(SerdeDecoder::new(projection));
    let tape = decode(&source, &json, false);
    // A fraction in what is wanted, which the tape has no answer for.
    let detour = json.replace(r#""priority":-5"#, r#""priority":-5.5"#);
    let text = decode(&source, &detour, false);
    let text = text.object().expect("decodes").to_string();
    let tape = tape.object().expect("decodes").to_string();
    assert_eq!(text.replace("-5.5", "-5"), tape);
    assert!(!tape.contains("managedFields") && !tape.contains("Running"));
    assert!(serde_json::from_str::<IgnoredAny>(&tape).is_ok());
}

#[test]
fn checked_bytes_that_are_not_utf8_are_refused() {
    let decoded = SerdeDecoder::default().decode_checked_text::<Value>(b"{\"a\":\"\xc3\"}");
    let error = decoded.expect_err("half of a character");
    assert_eq!(error.category, DecodeErrorCategory::Syntax);
}
