//! The estimated size of decoded objects, beside the bytes that they allocate.
//!
//! A program of its own, because it counts every byte that is allocated.

use std::alloc::System;
use std::sync::{Mutex, MutexGuard, PoisonError};

use informer_kube_source::{Buffers, Decode, Encoded, PartialObjectMetadata, SerdeDecoder, Wire};
use informer_object::{Identity, ObjectKey};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod, Service};
use kube_core::DynamicObject;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Tests take turns from their first line to their last, since all of the program's allocations
/// are counted.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Decodes an object a few times; returns its bytes in memory and the estimate.
fn measured<T: DeserializeOwned + 'static>(object: &Value) -> (usize, usize) {
    let json = object.to_string();
    let key = ObjectKey::new(Some("default"), "web-1").expect("well formed");
    let identity = Identity::new(key, "0b2c1f4e-3d67-4f0a-9d53-1a2b3c4d5e6f", "12345");
    let encoded = Encoded::new(Wire::Json(&json), &identity);
    let decoder = SerdeDecoder::default();
    let mut buffers = Buffers::default();
    // Buffers grow with the first objects.
    for _ in 0..3 {
        drop(Decode::<T>::decode(&decoder, encoded, &mut buffers));
    }
    let region = Region::new(ALLOCATOR);
    let decoded: T = decoder
        .decode(encoded, &mut buffers)
        .expect("it is well formed");
    let change = region.change();
    let live = change.bytes_allocated as isize - change.bytes_deallocated as isize
        + change.bytes_reallocated;
    let bytes = size_of::<T>() + usize::try_from(live).expect("more than nothing");
    drop(decoded);
    let estimate = Decode::<T>::object_bytes(&decoder).expect("it has decoded objects");
    let alone = decoder.measure::<T>(encoded).expect("it is well formed");
    assert_eq!(alone, estimate, "equal objects have one size");
    (bytes, estimate)
}

fn assert_near<T: DeserializeOwned + 'static>(object: &Value) {
    let (bytes, estimate) = measured::<T>(object);
    let name = std::any::type_name::<T>();
    println!("{name}: {bytes} bytes, estimated {estimate}");
    let range = bytes * 3 / 4..=bytes * 5 / 4;
    assert!(
        range.contains(&estimate),
        "{name}: {bytes} bytes were estimated as {estimate}"
    );
}

fn metadata(name: &str) -> Value {
    json!({
        "name": name, "namespace": "default", "uid": "0b2c1f4e-3d67-4f0a-9d53-1a2b3c4d5e6f",
        "resourceVersion": "12345", "creationTimestamp": "2026-01-02T03:04:05Z",
        "labels": {"app": "web", "tier": "front", "pod-template-hash": "7d9f8b6c5"},
        "annotations": (0..20).map(|i| (format!("example.org/{i}"), json!("x".repeat(i)))).collect::<serde_json::Map<_, _>>(),
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7d9f8b6c5",
            "uid": "0b2c1f4e-3d67-4f0a-9d53-1a2b3c4d5e6f", "controller": true}],
    })
}

#[test]
fn estimates_are_near_the_bytes_that_objects_allocate() {
    let _turn = turn();
    let container = |i: usize| {
        json!({
            "name": format!("container-{i}"), "image": format!("registry.example/web:{i}"),
            "args": ["--flag", "--other=17"], "imagePullPolicy": "IfNotPresent",
            "env": (0..8).map(|e| json!({"name": format!("NAME_{e}"), "value": "v".repeat(e)})).collect::<Vec<_>>(),
            "ports": [{"containerPort": 8080, "protocol": "TCP"}],
            "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m"}},
            "volumeMounts": [{"name": "data", "mountPath": "/data"}],
        })
    };
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata("web-1"),
        "spec": {
            "nodeName": "node-17", "containers": (0..3).map(container).collect::<Vec<_>>(),
            "volumes": [{"name": "data", "emptyDir": {}}],
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}],
        },
        "status": {"phase": "Running", "podIP": "10.0.0.1",
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-02T03:04:05Z"}]},
    });
    assert_near::<Pod>(&pod);
    assert_near::<Value>(&pod);
    assert_near::<PartialObjectMetadata>(&pod);
    let config = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata("settings"),
        "data": (0..40).map(|i| (format!("key-{i:03}"), json!("line\n".repeat(i)))).collect::<serde_json::Map<_, _>>(),
    });
    assert_near::<ConfigMap>(&config);
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": metadata("web"),
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]},
    });
    assert_near::<Service>(&service);
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": metadata("node-17"),
        "status": {"capacity": {"cpu": "8", "memory": "32Gi"},
            "images": (0..30).map(|i| json!({"names": [format!("image-{i}"), "x".repeat(70)], "sizeBytes": i})).collect::<Vec<_>>()},
    });
    assert_near::<Node>(&node);
}

#[test]
fn an_object_that_cannot_be_decoded_is_measured_as_an_error_with_its_path() {
    let _turn = turn();
    let json = json!({"metadata": {"name": "web", "labels": {"app": 1}}}).to_string();
    let key = ObjectKey::new(None, "web").expect("well formed");
    let identity = Identity::new(key, "uid", "1");
    let object = Encoded::new(Wire::Json(&json), &identity);
    let error = SerdeDecoder::default().measure::<Pod>(object);
    let error = error.expect_err("a label is a text");
    assert_eq!(error.path, "metadata.labels.app");
}

/// The rest of a flattened type is read twice; the estimate counts both.
#[test]
fn estimate_of_a_dynamic_object_is_of_its_order_of_magnitude() {
    let _turn = turn();
    let object = json!({
        "apiVersion": "example.org/v1", "kind": "Backup", "metadata": metadata("nightly"),
        "spec": {"schedule": "0 3 * * *", "targets": (0..20).map(|i| json!({"volume": i})).collect::<Vec<_>>()},
    });
    let (bytes, estimate) = measured::<DynamicObject>(&object);
    println!("{bytes} bytes, estimated {estimate}");
    assert!((bytes / 2..=bytes * 2).contains(&estimate));
}
