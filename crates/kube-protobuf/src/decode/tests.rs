//! Partial types decode to the same values and errors whether fields that they ignore are skipped
//! or handed to their visitors.
//!
//! The judge is `serde_path_to_error`: its visitors have values, so nothing is skipped, and the
//! dropped fields of the judge are found by name.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::marker::PhantomData;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer as _};
use serde_json::Value;

use super::access::is_ignored_any;
use super::ignored::is_name_of_derived;
use crate::damaged::{Damage, Random, bodies, damage};
use crate::schema::{MOST_VISITORS, NAMES};
use crate::{Deserializer, Dropped, Envelope, Error, ErrorKind, Schema};

/// A value, or what is wrong and where.
type Outcome<T> = Result<T, (ErrorKind, String, Option<usize>)>;

fn outcome<T>(result: Result<T, Error>, message: &[u8]) -> Outcome<T> {
    result.map_err(|error| {
        let error = error.in_input(message);
        (error.kind().clone(), error.path(), error.offset())
    })
}

/// Decodes twice, so that the second decode skips what the first one ignored.
fn twice<T: DeserializeOwned>(deserializer: Deserializer<'_>, message: &[u8]) -> [Outcome<T>; 2] {
    [(); 2].map(|()| outcome(T::deserialize(deserializer), message))
}

fn judged<T: DeserializeOwned>(deserializer: Deserializer<'_>, message: &[u8]) -> Outcome<T> {
    let result = serde_path_to_error::deserialize(deserializer);
    outcome(
        result.map_err(serde_path_to_error::Error::into_inner),
        message,
    )
}

#[derive(Debug, PartialEq, Deserialize)]
struct Named {
    name: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    name: Option<String>,
    labels: Option<BTreeMap<String, String>>,
    owner_references: Option<Vec<Named>>,
    managed_fields: Option<Vec<Manager>>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manager {
    fields_v1: Option<Value>,
}

/// Any object; generic types share the code of their lists of fields.
#[derive(Debug, PartialEq, Deserialize)]
struct Object<M, S> {
    metadata: M,
    spec: Option<S>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct KindOnly {
    kind: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    #[serde(alias = "hostname")]
    node_name: Option<String>,
    #[serde(default)]
    containers: Vec<Container>,
    volumes: Option<Vec<Volume>>,
    termination_grace_period_seconds: Option<i64>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Container {
    image: Option<String>,
    ports: Option<Vec<Port>>,
    #[serde(rename = "livenessProbe")]
    probe: Option<Inline>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Port {
    container_port: Option<i32>,
}

/// Some fields are in an inline message.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Inline {
    period_seconds: Option<i32>,
    exec: Option<IgnoredAny>,
    http_get: Option<Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Volume {
    name: Option<String>,
    config_map: Option<Named>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Flat {
    metadata: IgnoredAny,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Either {
    Strict(StrictName),
    Loose(Named),
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct StrictName {
    name: Option<String>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Props {
    #[serde(rename = "type")]
    kind: Option<String>,
    not: Option<Box<Props>>,
    properties: Option<BTreeMap<String, Props>>,
    items: Option<Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Versions {
    versions: Option<Vec<Version>>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Version {
    schema: Option<Validation>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Validation {
    #[serde(rename = "openAPIV3Schema")]
    schema: Option<Props>,
}

fn body(api_version: &str, kind: &str, chosen: Index) -> &'static [u8] {
    let bodies = bodies(api_version, kind);
    let body = bodies[chosen.index(bodies.len())];
    Envelope::parse(body).expect("a body").raw
}

/// Compares damaged objects of a kind, some with supplied names and without some fields.
fn compare_kind<T>(api_version: &'static str, kind: &'static str) -> usize
where
    T: DeserializeOwned + PartialEq + Debug,
{
    let cases = (
        any::<Index>(),
        prop::collection::vec(damage(), 0..4),
        prop::option::of(any::<u64>()),
        any::<bool>(),
    );
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let decoded = std::cell::Cell::new(0);
    let schema = Schema::of(api_version, kind).expect("a built-in kind");
    let test = |(chosen, damages, seed, is_named): (_, Vec<Damage>, Option<u64>, bool)| {
        let mut message = body(api_version, kind, chosen).to_vec();
        damages.iter().for_each(|it| it.apply(&mut message));
        let dropped = seed.map(|seed| (Random::new(seed), Random::plain(seed)));
        let (quick, plain) = match &dropped {
            Some((quick, plain)) => (Some(quick), Some(plain)),
            None => (None, None),
        };
        let deserializer = |dropped: Option<_>| Deserializer {
            dropped: dropped.map(|it: &Random| it as &dyn Dropped),
            names: is_named.then_some([api_version, kind]),
            ..Deserializer::new(schema, &message)
        };
        let (skipping, handing) = (deserializer(quick), deserializer(plain));
        let expected = judged::<T>(handing, &message);
        for found in twice::<T>(skipping, &message) {
            prop_assert_eq!(&found, &expected);
        }
        decoded.set(decoded.get() + usize::from(expected.is_ok()));
        Ok(())
    };
    if let Err(error) = TestRunner::new(config).run(&cases, test) {
        panic!("{kind}: {error}");
    }
    decoded.get()
}

#[test]
fn damaged_objects_decode_to_partial_types_as_if_nothing_was_skipped() {
    let mut decoded = 0;
    for (api_version, kind) in [("v1", "Pod"), ("v1", "Service"), ("apps/v1", "Deployment")] {
        decoded += compare_kind::<Object<Meta, Spec>>(api_version, kind);
        decoded += compare_kind::<Object<Named, IgnoredAny>>(api_version, kind);
        decoded += compare_kind::<Object<StrictName, IgnoredAny>>(api_version, kind);
        decoded += compare_kind::<Object<Either, BTreeMap<String, Value>>>(api_version, kind);
        decoded += compare_kind::<KindOnly>(api_version, kind);
        decoded += compare_kind::<Flat>(api_version, kind);
    }
    let definitions = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    decoded += compare_kind::<Object<Meta, Versions>>(definitions.0, definitions.1);
    assert!(decoded > 500, "{decoded} objects were decoded");
}

#[test]
fn any_kind_decodes_to_a_partial_type_as_if_nothing_was_skipped() {
    for (api_version, kind) in Schema::kinds() {
        let schema = Schema::of(api_version, kind).expect("listed");
        for body in bodies(api_version, kind) {
            let envelope = Envelope::parse(body).expect("a body");
            let message = envelope.raw;
            let bare = Deserializer::new(schema, message);
            for deserializer in [bare, bare.named(api_version, kind)] {
                let expected = judged::<Object<Meta, IgnoredAny>>(deserializer, message);
                for found in twice(deserializer, message) {
                    assert_eq!(found, expected, "{kind}");
                }
            }
        }
    }
}

fn decode<T: DeserializeOwned + 'static>(name: &str, message: &[u8]) -> Result<T, Error> {
    let schema = Schema::message(name).expect("a message of the table");
    Deserializer::new(schema, message).decode()
}

#[test]
fn fields_that_a_derived_visitor_ignored_are_remembered() {
    #[derive(Deserialize)]
    struct Reference {
        name: String,
    }

    let entry = Schema::message("core/v1.ObjectReference")
        .expect("a message of the table")
        .entry();
    let message = [(1, "Pod"), (2, "web"), (3, "app"), (6, "7")].map(|(number, text)| {
        let text = text.as_bytes();
        [&[number << 3 | 2, text.len() as u8], text].concat()
    });
    let message = message.concat();
    for _ in 0..2 {
        let reference: Reference = decode(entry.name, &message).expect("decodes");
        assert_eq!(reference.name, "app");
    }
    let remembered = 1 << 1 | 1 << 2 | 1 << 6;
    assert!(
        entry.ignored().contains(&remembered),
        "{:?}",
        entry.ignored()
    );
    // What is skipped must still be there once, and be complete.
    let again = [&message[..], b"\x0a\x03Pod"].concat();
    let error = decode::<Reference>(entry.name, &again)
        .map(drop)
        .expect_err("twice");
    assert_eq!(
        (error.kind(), &*error.path()),
        (&ErrorKind::Repeated, "kind")
    );
    let torn = [&message[..], b"\x2a\x03v"].concat();
    assert!(decode::<Reference>(entry.name, &torn).is_err());
}

#[test]
fn supplied_names_are_remembered_unless_the_type_has_them() {
    let schema = Schema::message("core/v1.NodeAddress").expect("a message of the table");
    let named = Deserializer::new(schema, &[]).named("v1", "Endpoints");
    for _ in 0..2 {
        Named::deserialize(named).expect("decodes");
        let kind = KindOnly::deserialize(named).expect("decodes").kind;
        assert_eq!(kind.as_deref(), Some("Endpoints"));
    }
    let ignored = schema.entry().ignored();
    let of_names: Vec<u64> = ignored.iter().map(|fields| fields & NAMES).collect();
    assert_eq!(of_names, [NAMES, 0]);
}

#[test]
fn unknown_fields_are_still_refused_after_another_type_ignored_them() {
    mod loose {
        #[derive(Debug, serde::Deserialize)]
        pub(super) struct Reference {
            #[expect(dead_code, reason = "decoding is tested")]
            pub(super) name: Option<String>,
        }
    }
    mod strict {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Reference {
            #[expect(dead_code, reason = "decoding is tested")]
            pub(super) name: Option<String>,
        }
    }
    let name = "core/v1.SecretReference";
    let message = b"\x12\x03web";
    for _ in 0..3 {
        decode::<loose::Reference>(name, message).expect("ignores the namespace");
        let error = decode::<strict::Reference>(name, message).expect_err("refuses it");
        assert!(
            error.to_string().contains("unknown field `namespace`"),
            "{error}"
        );
    }
}

/// Takes a field that it does not state, if a field before it says so.
#[derive(Debug, Default, PartialEq)]
struct ByHand {
    name: Option<String>,
    namespace: Option<String>,
}

impl<'de> Deserialize<'de> for ByHand {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByHandVisitor;

        impl<'de> Visitor<'de> for ByHandVisitor {
            type Value = ByHand;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a reference")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ByHand, A::Error> {
                let mut read = ByHand::default();
                while let Some(key) = map.next_key::<String>()? {
                    match (key.as_str(), read.name.as_deref()) {
                        ("name", _) => read.name = map.next_value()?,
                        ("namespace", Some("taken")) => read.namespace = map.next_value()?,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(read)
            }
        }

        deserializer.deserialize_struct("ByHand", &["name"], ByHandVisitor)
    }
}

#[test]
fn visitors_written_by_hand_receive_fields_that_they_ignored_before() {
    for name in ["ignored", "taken", "ignored", "taken"] {
        let length = name.len() as u8;
        let message = [&[0x0a, length], name.as_bytes(), b"\x12\x03web"].concat();
        let read: ByHand = decode("core/v1.SecretReference", &message).expect("decodes");
        assert_eq!(read.namespace.is_some(), name == "taken");
    }
}

/// Holds the name of the field that it takes.
struct Wanted(&'static str);

impl<'de> Visitor<'de> for Wanted {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<String>()? {
            match key == self.0 {
                true => found = Some(map.next_value()?),
                false => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(found)
    }
}

#[test]
fn visitors_with_a_value_receive_fields_that_they_ignored_before() {
    let schema = Schema::message("core/v1.SecretReference").expect("a message of the table");
    for field in ["name", "namespace", "name"] {
        let reference = Deserializer::new(schema, b"\x0a\x04name\x12\x09namespace");
        let found = reference.deserialize_struct("Wanted", &["other"], Wanted(field));
        assert_eq!(found.expect("decodes").as_deref(), Some(field));
    }
}

#[test]
fn more_types_than_a_message_remembers_decode_all_the_same() {
    /// One of several types for one message.
    #[derive(Debug, Deserialize)]
    struct Reference<const N: usize> {
        name: Option<String>,
    }

    fn check<const N: usize>(message: &[u8]) {
        let read: Reference<N> = decode("core/v1.TypedObjectReference", message).expect("decodes");
        assert_eq!(read.name.as_deref(), Some("app"));
    }

    fn check_two<const N: usize, const M: usize>(message: &[u8]) {
        check::<N>(message);
        check::<M>(message);
    }

    let message = b"\x12\x03Pod\x1a\x03app";
    for _ in 0..2 {
        check_two::<0, 1>(message);
        check_two::<2, 3>(message);
        check_two::<4, 5>(message);
        check_two::<6, 7>(message);
        check_two::<8, 9>(message);
        check_two::<10, 11>(message);
        check_two::<12, 13>(message);
        check_two::<14, 15>(message);
        check_two::<16, 17>(message);
        check_two::<18, 19>(message);
    }
    let schema = Schema::message("core/v1.TypedObjectReference").expect("a message of the table");
    assert!((1..=MOST_VISITORS).contains(&schema.entry().ignored().len()));
}

#[test]
fn only_visitors_of_the_derive_macro_are_remembered() {
    let ignored = PhantomData::<IgnoredAny>;
    fn is_ignored<S>(_: &S) -> bool {
        is_ignored_any::<S>()
    }
    assert!(is_ignored(&ignored) && !is_ignored(&PhantomData::<String>));
    for (name, is_derived) in [
        (
            "a::_::<impl serde_core::de::Deserialize for a::Pod>::deserialize::__Visitor",
            true,
        ),
        (
            "a::_::<impl D for a::Pod<T>>::deserialize::__Visitor<alloc::vec::Vec<u8>>",
            true,
        ),
        (
            "a::Adapter<a::_::<impl D for a::Pod>::deserialize::__Visitor>",
            false,
        ),
        (
            "<a::Pod as serde_core::de::Deserialize>::deserialize::Visitor",
            false,
        ),
        ("a::Odd<fn() -> a::deserialize::__Visitor>", false),
        ("__Visitor", false),
        ("", false),
    ] {
        assert_eq!(is_name_of_derived(name), is_derived, "{name}");
    }
}
