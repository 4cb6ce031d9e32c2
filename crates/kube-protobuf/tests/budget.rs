//! No damaged message makes the decoder allocate more than a multiple of its bytes.

mod bytes;

use std::alloc::System;

use bytes::message;
use informer_kube_protobuf::{Schema, from_slice};
use serde_json::Value;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Returns the bytes that are allocated to decode the message.
fn allocated(schema: Schema, bytes: &[u8]) -> usize {
    let region = Region::new(GLOBAL);
    let _value: Result<Value, _> = from_slice(schema, bytes);
    region.change().bytes_allocated
}

// One test, because the allocator counts all threads.
#[test]
fn allocations_are_a_multiple_of_the_input_whatever_lengths_it_states() {
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
