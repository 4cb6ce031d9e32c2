//! No damaged message makes the decoder allocate more than a multiple of its bytes, and the
//! estimate of a decoded object is not below the bytes that it keeps allocated.

mod bytes;

use std::alloc::System;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::{Message, message};
use informer_kube_protobuf::{Schema, decoded_bytes, from_slice, to_vec};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Returns the bytes that are allocated to decode the message.
fn allocated(schema: Schema, bytes: &[u8]) -> usize {
    let region = Region::new(GLOBAL);
    let _value: Result<Value, _> = from_slice(schema, bytes);
    region.change().bytes_allocated
}

/// The allocator counts all threads, so one test runs at a time.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn allocations_are_a_multiple_of_the_input_whatever_lengths_it_states() {
    let _turn = turn();
    let pod = Schema::of("v1", "Pod").expect("a built-in kind");
    let list = Schema::of("v1", "PodList").expect("a built-in kind");
    let saved = include_bytes!("data/pods.bin");
    // The first decode of a kind reads its part of the table.
    allocated(list, &saved[4..]);
    let spec = message().raw(2, &[0; 20]);
    allocated(pod, message().put(2, &spec).bytes());

    for length in [0x7f, 0x7fff, 0x7fff_ffff, u64::MAX] {
        for number in [1, 2, 3] {
            let lying = message().varint(number << 3 | 2).varint(length).varint(7);
            let bytes = allocated(pod, lying.bytes());
            assert!(
                bytes < 8 * 1024,
                "{bytes} bytes for a stated length of {length}"
            );
        }
    }
    // An empty container is two bytes, and a map of its own as a value.
    let containers = (0..10_000).fold(message(), |spec, _| spec.raw(2, &[]));
    let object = message().put(2, &containers);
    let bytes = allocated(pod, object.bytes());
    let most = object.bytes().len() * 1_000;
    assert!(
        bytes < most,
        "{bytes} bytes for {} bytes",
        object.bytes().len()
    );
}

/// The bytes of a decoded object, its own included, and their estimate.
struct Measured {
    bytes: usize,
    estimate: usize,
}

fn measure<T: DeserializeOwned>(kind: (&str, &str), message: &[u8]) -> Measured {
    let schema = Schema::of(kind.0, kind.1).expect("a built-in kind");
    // The first use of a kind reads its part of the table.
    let first: T = from_slice(schema, message).expect("decodes");
    drop(first);
    let estimate = decoded_bytes(schema, message, usize::MAX);
    let region = Region::new(GLOBAL);
    let object: T = from_slice(schema, message).expect("decodes");
    let change = region.change();
    drop(object);
    let bytes = size_of::<T>() + change.bytes_allocated - change.bytes_deallocated;
    let before = Region::new(GLOBAL);
    assert_eq!(decoded_bytes(schema, message, usize::MAX), estimate);
    assert_eq!(before.change().allocations, 0, "an estimate allocates");
    println!(
        "{}: {bytes} bytes, estimated {estimate}, of {}",
        kind.1,
        message.len()
    );
    let half = estimate / 2;
    let counted = decoded_bytes(schema, message, half);
    assert!((half + 1..=estimate).contains(&counted), "{counted}");
    Measured { bytes, estimate }
}

fn encoded(kind: (&str, &str), object: &Value) -> Vec<u8> {
    let schema = Schema::of(kind.0, kind.1).expect("a built-in kind");
    to_vec(schema, object).expect("encodes")
}

/// A schema with `width` members in each of `depth` levels.
fn schema(width: usize, depth: usize) -> Value {
    let mut properties = Map::new();
    for index in 0..width {
        let member = match depth {
            0 => json!({"type": "string", "description": "text", "default": {"a": [1, "b"]}}),
            _ => schema(width, depth - 1),
        };
        properties.insert(format!("member{index}"), member);
    }
    json!({"type": "object", "properties": properties,
        "items": {"type": "string"}, "additionalProperties": {"not": {"type": "string"}},
        "required": ["member0"], "enum": ["a", {"b": 1}]})
}

#[test]
fn no_estimate_is_below_the_allocated_bytes() {
    let _turn = turn();
    let (pod, map) = (("v1", "Pod"), ("v1", "ConfigMap"));

    let list: Value = serde_json::from_slice(include_bytes!("data/pods.json")).expect("JSON");
    let usual = encoded(pod, &list["items"][0]);
    let usual = measure::<Pod>(pod, &usual);
    assert!(usual.estimate >= usual.bytes);
    assert!(usual.estimate <= 4 * usual.bytes);

    let containers = (0..10_000).fold(message(), |spec, _| spec.raw(2, &[]));
    let empty = measure::<Pod>(pod, message().put(2, &containers).bytes());
    assert!(empty.estimate >= empty.bytes && empty.bytes > 8 << 20);

    for count in [1, 7, 100, 20_000] {
        let data = (0..count).map(|key| (format!("{key:05}"), json!("")));
        let data: Map<String, Value> = data.collect();
        let config = measure::<ConfigMap>(map, &encoded(map, &json!({"data": data})));
        assert!(config.estimate >= config.bytes, "{count} entries");
    }
    // Keys in an order that leaves nodes half empty.
    let tiny = (0..20_000_u32).map(|n| n.wrapping_mul(2_654_435_761));
    let tiny = tiny.fold(message(), |map, key| {
        map.put(2, &message().text(1, &format!("{key:08x}")))
    });
    let tiny = measure::<ConfigMap>(map, tiny.bytes());
    assert!(tiny.estimate >= tiny.bytes);

    let secret = ("v1", "Secret");
    let bytes = (1..50).fold(message(), |map, length| {
        let key = message().text(1, &format!("{length}"));
        map.put(2, &key.raw(2, &vec![7; length]))
    });
    let bytes = measure::<Secret>(secret, bytes.bytes());
    assert!(bytes.estimate >= bytes.bytes);

    let definition = ("apiextensions.k8s.io/v1", "CustomResourceDefinition");
    for (width, depth) in [(1, 0), (5, 3), (1, 20)] {
        let object = json!({"spec": {"versions": [{"name": "v1",
            "schema": {"openAPIV3Schema": schema(width, depth)}}]}});
        let message = encoded(definition, &object);
        let schema = measure::<CustomResourceDefinition>(definition, &message);
        assert!(schema.estimate >= schema.bytes, "{width}, {depth}");
    }
}

/// A decode skips what the caller drops or ignores, damaged or not, and decodes the rest.
#[test]
fn an_estimate_counts_what_is_beside_damage() {
    let (pod, map) = (
        Schema::of("v1", "Pod").expect("a built-in kind"),
        Schema::of("v1", "ConfigMap").expect("a built-in kind"),
    );
    let containers = |first: Message| (0..1_000).fold(first, |spec, _| spec.raw(2, &[]));
    let entries = |first: Message| {
        let key = |n: u32| message().text(1, &n.to_string());
        (0..1_000).fold(first, |map, n| map.put(2, &key(n)))
    };
    let sound = decoded_bytes(
        pod,
        message().put(2, &containers(message())).bytes(),
        1 << 30,
    );
    let sound_map = decoded_bytes(map, entries(message()).bytes(), 1 << 30);
    assert!(sound > 1 << 20 && sound_map > 1 << 16);
    // A torn tag, a torn length, a group, a field of another wire type.
    for damage in [&[0x80][..], &[0x0a, 9], &[0x13], &[0x08, 1]] {
        let managed = message().put(1, &message().raw(17, damage));
        let object = managed.put(2, &containers(message()));
        assert!(
            decoded_bytes(pod, object.bytes(), 1 << 30) >= sound,
            "{damage:?}"
        );
        let object = message().put(2, &containers(message().raw(2, damage)));
        assert!(
            decoded_bytes(pod, object.bytes(), 1 << 30) >= sound,
            "{damage:?}"
        );
        let object = entries(message().raw(2, damage));
        assert!(
            decoded_bytes(map, object.bytes(), 1 << 30) >= sound_map,
            "{damage:?}"
        );
    }
    // A field of another wire type on the level of the containers.
    let object = message().put(2, &containers(message().int(1, 1)));
    assert!(decoded_bytes(pod, object.bytes(), 1 << 30) >= sound);
}

/// An empty quantity is "0", which is a string on the heap.
#[test]
fn an_estimate_counts_empty_quantities() {
    let schema = Schema::message("resource/v1.CapacityRequestPolicy").expect("in the table");
    let count = 1_000;
    let empty = (0..count).fold(message(), |policy, _| policy.raw(3, &[]));
    let estimate = decoded_bytes(schema, empty.bytes(), usize::MAX);
    assert!(estimate >= count * (size_of::<String>() + 1), "{estimate}");
}

/// A list of which the first element is damaged does not reserve memory for all others.
#[cfg(feature = "k8s-openapi")]
#[test]
fn no_list_of_structs_is_allocated_before_it_is_read() {
    let _turn = turn();
    let pod = Schema::of("v1", "Pod").expect("a built-in kind");
    let damaged = (0..100_000).fold(message().raw(2, &[0x80]), |spec, _| spec.raw(2, &[]));
    let object = message().put(2, &damaged);
    let decode = || informer_kube_protobuf::Deserializer::new(pod, object.bytes()).decode::<Pod>();
    decode().expect_err("the first container is damaged");
    let region = Region::new(GLOBAL);
    decode().expect_err("the first container is damaged");
    let bytes = region.change().bytes_allocated;
    assert!(bytes < 4 << 20, "{bytes} bytes");
}

/// Compares the estimated size of a struct with the size that it has.
fn compare_size<T>(name: &str) {
    let schema = Schema::message(name).expect("a message of the table");
    let (size, estimate) = (size_of::<T>(), decoded_bytes(schema, b"", usize::MAX));
    assert!(estimate >= size, "{name}: {size}, estimated {estimate}");
    assert!(estimate <= 2 * size, "{name}: {size}, estimated {estimate}");
}

#[test]
fn structs_are_not_larger_than_their_estimate() {
    use k8s_openapi::api::policy;
    use k8s_openapi::api::{apps, autoscaling, batch, coordination, core, discovery, networking};
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions;
    use k8s_openapi::apimachinery::pkg::apis::meta;

    let _turn = turn();
    compare_size::<core::v1::Pod>("core/v1.Pod");
    compare_size::<core::v1::PodSpec>("core/v1.PodSpec");
    compare_size::<core::v1::Container>("core/v1.Container");
    compare_size::<core::v1::ContainerPort>("core/v1.ContainerPort");
    compare_size::<core::v1::EnvVar>("core/v1.EnvVar");
    compare_size::<core::v1::Volume>("core/v1.Volume");
    compare_size::<core::v1::Probe>("core/v1.Probe");
    compare_size::<core::v1::SecurityContext>("core/v1.SecurityContext");
    compare_size::<core::v1::Toleration>("core/v1.Toleration");
    compare_size::<core::v1::ContainerStatus>("core/v1.ContainerStatus");
    compare_size::<core::v1::Event>("core/v1.Event");
    compare_size::<core::v1::Node>("core/v1.Node");
    compare_size::<core::v1::Secret>("core/v1.Secret");
    compare_size::<core::v1::Service>("core/v1.Service");
    compare_size::<core::v1::ServicePort>("core/v1.ServicePort");
    compare_size::<core::v1::PersistentVolume>("core/v1.PersistentVolume");
    compare_size::<apps::v1::Deployment>("apps/v1.Deployment");
    compare_size::<apps::v1::StatefulSet>("apps/v1.StatefulSet");
    compare_size::<autoscaling::v2::MetricSpec>("autoscaling/v2.MetricSpec");
    compare_size::<batch::v1::Job>("batch/v1.Job");
    compare_size::<coordination::v1::Lease>("coordination/v1.Lease");
    compare_size::<discovery::v1::Endpoint>("discovery/v1.Endpoint");
    compare_size::<networking::v1::HTTPIngressPath>("networking/v1.HTTPIngressPath");
    compare_size::<policy::v1::Eviction>("policy/v1.Eviction");
    compare_size::<meta::v1::DeleteOptions>("meta/v1.DeleteOptions");
    compare_size::<meta::v1::ObjectMeta>("meta/v1.ObjectMeta");
    compare_size::<meta::v1::ManagedFieldsEntry>("meta/v1.ManagedFieldsEntry");
    compare_size::<meta::v1::Condition>("meta/v1.Condition");
    compare_size::<apiextensions::v1::JSONSchemaProps>("apiextensions/v1.JSONSchemaProps");
}
