//! Measures how long a pod takes to decode: protobuf, and the same pod as JSON by serde_json.
//!
//! `cargo run --release -p informer-kube-protobuf --example figures`
#![expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use informer_kube_protobuf::{Envelope, Identity, ListPart, ListParts, Schema, from_slice};
use k8s_openapi::api::core::v1::Pod;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The pods that are decoded together, and how many times.
const BATCH: usize = 2_000;
const TURNS: usize = 9;

/// Eight fields of a pod, as a program of its own would declare them.
#[derive(Deserialize)]
#[expect(dead_code, reason = "decoding is measured, not reading")]
#[serde(rename_all = "camelCase")]
struct Small {
    metadata: Metadata,
    spec: Spec,
    status: Status,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "decoding is measured, not reading")]
struct Metadata {
    name: String,
    namespace: String,
    uid: String,
    resource_version: String,
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "decoding is measured, not reading")]
struct Spec {
    node_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "decoding is measured, not reading")]
struct Status {
    phase: String,
    #[serde(rename = "podIP")]
    pod_ip: Option<String>,
}

/// A list whose items stay text.
#[derive(Deserialize)]
struct Texts<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

/// Returns the microseconds of one call: the best of several turns.
fn measure<T>(mut call: impl FnMut() -> T) -> f64 {
    let mut best = Duration::MAX;
    for _ in 0..TURNS {
        let start = Instant::now();
        for _ in 0..BATCH {
            black_box(call());
        }
        best = best.min(start.elapsed());
    }
    best.as_secs_f64() * 1e6 / BATCH as f64
}

fn row(name: &str, protobuf: f64, json: f64) {
    println!(
        "{name:<34} {protobuf:>8.2} {json:>8.2} {:>8.2}",
        protobuf / json
    );
}

fn main() -> Result<(), Box<dyn Error>> {
    let body = include_bytes!("../tests/data/pods.bin");
    let texts: Texts<'_> = serde_json::from_str(include_str!("../tests/data/pods.json"))?;
    let text = texts.items.first().ok_or("an item")?.get().as_bytes();
    let list = Envelope::parse(body)?;
    let item = ListParts::new(list.raw).find_map(|part| match part {
        Ok(ListPart::Item(item)) => Some(item),
        _ => None,
    });
    let item = item.ok_or("an item")?;
    let schema = Schema::of("v1", "Pod").ok_or("a built-in kind")?;

    println!(
        "one pod: {} bytes of protobuf, {} of JSON",
        item.len(),
        text.len()
    );
    println!(
        "{:<34} {:>8} {:>8} {:>8}",
        "microseconds", "protobuf", "JSON", "ratio"
    );
    row(
        "k8s-openapi Pod",
        measure(|| from_slice::<Pod>(schema, item).map(drop)),
        measure(|| serde_json::from_slice::<Pod>(text).map(drop)),
    );
    row(
        "eight fields",
        measure(|| from_slice::<Small>(schema, item).map(drop)),
        measure(|| serde_json::from_slice::<Small>(text).map(drop)),
    );
    row(
        "serde_json::Value",
        measure(|| from_slice::<serde_json::Value>(schema, item).map(drop)),
        measure(|| serde_json::from_slice::<serde_json::Value>(text).map(drop)),
    );
    row(
        "nothing; protobuf: the identity",
        measure(|| Identity::read(item).map(drop)),
        measure(|| serde_json::from_slice::<IgnoredAny>(text).map(drop)),
    );
    Ok(())
}
