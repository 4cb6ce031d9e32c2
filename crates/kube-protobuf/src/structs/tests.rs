//! What is decoded here equals what serde decodes, and serde refuses none of it.

use std::cell::Cell;
use std::fmt::Debug;

use k8s_openapi::Resource;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use serde::de::DeserializeOwned;

use super::{Fields, Object, messages};
use crate::damaged::{Random, bodies, damage};
use crate::{Deserializer, Dropped, Envelope, Schema};

/// A test of one struct.
pub(super) trait TestKind {
    fn kind<T>(&mut self, name: &str)
    where
        T: Resource + DeserializeOwned + Fields<T> + PartialEq + Debug + 'static;
}

fn object<T: Resource>(message: &[u8]) -> Object<'_> {
    Object {
        schema: Schema::of(T::API_VERSION, T::KIND).expect("a built-in kind"),
        message,
        names: None,
        dropped: None,
    }
}

/// Decodes through serde.
fn by_serde<T: DeserializeOwned>(object: Object<'_>) -> Result<T, crate::Error> {
    let mut deserializer = Deserializer::new(object.schema, object.message);
    if let Some(dropped) = object.dropped {
        deserializer = deserializer.without(dropped);
    }
    T::deserialize(deserializer)
}

/// Compares a decode with the one of `plain` through serde. Returns whether the object was decoded
/// here.
fn compare<T>(object: Object<'_>, plain: Object<'_>) -> Result<bool, TestCaseError>
where
    T: DeserializeOwned + PartialEq + Debug + 'static,
{
    let Some(decoded) = object.decode::<T>() else {
        return Ok(false);
    };
    match by_serde::<T>(plain) {
        Ok(expected) => prop_assert_eq!(decoded, expected),
        Err(error) => prop_assert!(false, "serde alone refuses it: {error}"),
    }
    Ok(true)
}

/// Decodes the stored objects.
#[derive(Default)]
struct Stored {
    kinds: usize,
    left_to_serde: Vec<String>,
}

impl TestKind for Stored {
    fn kind<T>(&mut self, name: &str)
    where
        T: Resource + DeserializeOwned + Fields<T> + PartialEq + Debug + 'static,
    {
        self.kinds += 1;
        let bodies = bodies(T::API_VERSION, T::KIND);
        assert!(!bodies.is_empty(), "no object of {name}");
        for body in bodies {
            let envelope = Envelope::parse(body).expect("a body");
            let object = object::<T>(envelope.raw);
            let is_decoded = compare::<T>(object, object).expect("equal values");
            if !is_decoded && by_serde::<T>(object).is_ok() {
                self.left_to_serde.push(name.to_owned());
            }
        }
        let empty = object::<T>(&[]);
        assert!(
            compare::<T>(empty, empty).expect("equal values"),
            "{name} without fields"
        );
    }
}

#[test]
fn objects_of_go_are_decoded_as_by_serde() {
    let mut stored = Stored::default();
    messages::test_all(&mut stored);
    assert!(stored.kinds > 40, "{} kinds", stored.kinds);
    assert!(
        stored.left_to_serde.is_empty(),
        "{:?}",
        stored.left_to_serde
    );
}

/// Decodes damaged objects, and objects without some fields.
#[derive(Default)]
struct Damaged {
    decoded: usize,
    left: usize,
}

impl TestKind for Damaged {
    fn kind<T>(&mut self, _: &str)
    where
        T: Resource + DeserializeOwned + Fields<T> + PartialEq + Debug + 'static,
    {
        let bodies = bodies(T::API_VERSION, T::KIND);
        let (decoded, left) = (Cell::new(0), Cell::new(0));
        let cases = (
            any::<Index>(),
            prop::collection::vec(damage(), 0..4),
            prop::option::of(any::<u64>()),
        );
        let config = ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        };
        let result = TestRunner::new(config).run(&cases, |(chosen, damages, dropped)| {
            let envelope = Envelope::parse(bodies[chosen.index(bodies.len())]).expect("a body");
            let mut message = envelope.raw.to_vec();
            for damage in &damages {
                damage.apply(&mut message);
            }
            let dropped = dropped.map(|seed| (Random::new(seed), Random::plain(seed)));
            let (placed, plain) = dropped
                .as_ref()
                .map(|(placed, plain)| (placed, plain))
                .unzip();
            let drops = |dropped: Option<_>| dropped.map(|it: &Random| it as &dyn Dropped);
            let object = |dropped| Object {
                dropped,
                ..object::<T>(&message)
            };
            let (placed, plain) = (object(drops(placed)), object(drops(plain)));
            // The second decode finds what the first one put into the places.
            for _ in 0..2 {
                let count = match compare::<T>(placed, plain)? {
                    true => &decoded,
                    false => &left,
                };
                count.set(count.get() + 1);
            }
            Ok(())
        });
        if let Err(error) = result {
            panic!("{}: {error}", T::KIND);
        }
        self.decoded += decoded.get();
        self.left += left.get();
    }
}

#[test]
fn damaged_objects_and_parts_of_objects_are_decoded_as_by_serde() {
    let mut damaged = Damaged::default();
    messages::test_all(&mut damaged);
    let Damaged { decoded, left, .. } = damaged;
    println!("{decoded} objects were decoded, {left} left to serde");
    assert!(decoded > 1_000 && left > 1_000, "{decoded}, {left}");
}

#[test]
fn another_type_or_other_names_are_left_to_serde() {
    use k8s_openapi::api::core::v1::{Node, Pod};
    let pod = object::<Pod>(&[]);
    assert!(pod.decode::<Pod>().is_some());
    assert!(pod.decode::<Node>().is_none());
    assert!(pod.decode::<serde_json::Value>().is_none());
    let named = |names| Object {
        names: Some(names),
        ..pod
    };
    assert!(named(["v1", "Pod"]).decode::<Pod>().is_some());
    assert!(named(["v1", "Node"]).decode::<Pod>().is_none());
}
