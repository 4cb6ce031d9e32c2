//! Measures how long a pod takes to decode: protobuf, and the same pod as JSON by serde_json. Then
//! how long a copy without managed fields and an estimate of the decoded size take.
//!
//! `cargo run --release -p informer-kube-protobuf --features k8s-openapi --example figures`
#![expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]

use std::collections::BTreeMap;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use informer_kube_protobuf::{
    Deserializer, Dropped, Identity, Schema, copy_without, decoded_bytes, from_slice, to_vec,
};
use k8s_openapi::api::core::v1::Pod;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

/// The pods that are decoded together, and how many times.
const BATCH: usize = 200;
const TURNS: usize = 60;

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

/// Names with what is dropped within them; no names: all of it.
struct Names(&'static [(&'static str, Names)]);

impl Dropped for Names {
    fn child(&self, name: &str) -> Option<&dyn Dropped> {
        let child = self.0.iter().find(|child| child.0 == name)?;
        Some(&child.1)
    }

    fn is_dropped(&self) -> bool {
        self.0.is_empty()
    }
}

/// `metadata.managedFields`.
static MANAGED_FIELDS: Names = Names(&[("metadata", Names(&[("managedFields", Names(&[]))]))]);

/// Returns the time of one turn of calls.
fn turn<T>(call: &mut impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..BATCH {
        black_box(call());
    }
    start.elapsed()
}

/// Prints the microseconds of one call of each: the best of several turns, which alternate.
fn row<A, B>(name: &str, mut protobuf: impl FnMut() -> A, mut json: impl FnMut() -> B) {
    let (mut best, mut best_json) = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        best = best.min(turn(&mut protobuf));
        best_json = best_json.min(turn(&mut json));
    }
    let micros = |turn: Duration| turn.as_secs_f64() * 1e6 / BATCH as f64;
    let (protobuf, json) = (micros(best), micros(best_json));
    println!(
        "| {name} | {protobuf:.2} | {json:.2} | {:.2} |",
        protobuf / json
    );
}

fn main() -> Result<(), Box<dyn Error>> {
    let texts: Texts<'_> = serde_json::from_str(include_str!("../tests/data/pods.json"))?;
    let text = texts.items.first().ok_or("an item")?.get();
    let schema = Schema::of("v1", "Pod").ok_or("a built-in kind")?;
    let full: Value = serde_json::from_str(text)?;
    let mut lean = full.clone();
    if let Some(metadata) = lean["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }

    println!("| microseconds | protobuf | serde_json | ratio |");
    println!("| --- | --- | --- | --- |");
    for (name, object) in [("", full), (" without managed fields", lean)] {
        let (item, text) = (to_vec(schema, &object)?, object.to_string());
        let (item, text) = (&item[..], text.as_bytes());
        row(
            &format!(
                "`Pod` of k8s-openapi{name}, {} B, {} B",
                item.len(),
                text.len()
            ),
            || Deserializer::new(schema, item).decode::<Pod>().map(drop),
            || serde_json::from_slice::<Pod>(text).map(drop),
        );
        row(
            &format!("`Pod` of k8s-openapi{name}, through serde"),
            || from_slice::<Pod>(schema, item).map(drop),
            || serde_json::from_slice::<Pod>(text).map(drop),
        );
        row(
            &format!("eight fields{name}"),
            || from_slice::<Small>(schema, item).map(drop),
            || serde_json::from_slice::<Small>(text).map(drop),
        );
        row(
            &format!("`serde_json::Value`{name}"),
            || from_slice::<Value>(schema, item).map(drop),
            || serde_json::from_slice::<Value>(text).map(drop),
        );
        row(
            &format!("the identity{name}; nothing of JSON"),
            || Identity::read(item).map(drop),
            || serde_json::from_slice::<IgnoredAny>(text).map(drop),
        );
        let mut out = Vec::new();
        row(
            &format!("`copy_without` managed fields, of a pod{name}; nothing of JSON"),
            || {
                out.clear();
                copy_without(schema, item, &MANAGED_FIELDS, &mut out)
            },
            || serde_json::from_slice::<IgnoredAny>(text).map(drop),
        );
        row(
            &format!("`decoded_bytes`{name}; nothing of JSON"),
            || decoded_bytes(schema, item, usize::MAX),
            || serde_json::from_slice::<IgnoredAny>(text).map(drop),
        );
    }
    Ok(())
}
