//! The fuzz targets of the project, in one program; the variable `FUZZ_TARGET` chooses one.
//!
//! `cargo xtask fuzz` builds it with coverage and runs all of them. What each target checks stands
//! with the part it checks, in the `fuzzed` files of the crates: here bytes become calls. Inputs
//! that once failed, and ones that are nasty by design, are in `corpus`, one folder per target.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::{arbitrary::Unstructured, fuzz_target};

type Target = fn(&[u8]);

/// What the project promises of each: `spec` 5.7.
const TARGETS: [(&str, Target); 13] = [
    ("frame_chunks", informer_kube_source::fuzzing::frame_chunks),
    ("watch_event", informer_kube_source::fuzzing::watch_event),
    (
        "status_classify",
        informer_kube_source::fuzzing::status_classify,
    ),
    ("list_page", informer_kube_source::fuzzing::list_page),
    ("retry_after", informer_kube_source::fuzzing::retry_after),
    ("rv_compare", |data| {
        if let Ok(text) = std::str::from_utf8(data) {
            informer_reflector::fuzzing::rv_compare(text);
        }
    }),
    ("store_ops", |data| {
        informer_store::fuzzing::store_ops(&mut draws(data));
    }),
    ("fifo_ops", |data| {
        informer_deltafifo::fuzzing::fifo_ops(&mut draws(data));
    }),
    ("reflector_inputs", |data| {
        informer_reflector::fuzzing::reflector_inputs(&mut draws(data));
    }),
    ("coalescing_ring", |data| {
        informer_processor::fuzzing::coalescing_ring(&mut draws(data));
    }),
    ("unpack", informer_packed::fuzzing::unpack),
    (
        "protobuf_answer",
        informer_kube_protobuf::fuzzing::protobuf_answer,
    ),
    (
        "protobuf_frames",
        informer_kube_protobuf::fuzzing::protobuf_frames,
    ),
];

/// Numbers below a bound, out of as few bytes as hold them, until the bytes are used up.
fn draws(data: &[u8]) -> impl FnMut(u32) -> Option<u32> {
    let mut data = Unstructured::new(data);
    move |below| match data.is_empty() {
        true => None,
        false => data.int_in_range(0..=below - 1).ok(),
    }
}

fn target() -> Target {
    static TARGET: OnceLock<Target> = OnceLock::new();
    *TARGET.get_or_init(|| {
        let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
        let known = TARGETS.iter().find(|(known, _)| *known == name);
        match known {
            Some((_, target)) => *target,
            None => panic!(
                "FUZZ_TARGET is {name:?}, and not one of {:?}",
                TARGETS.map(|t| t.0)
            ),
        }
    })
}

fuzz_target!(|data: &[u8]| {
    target()(data);
});
