//! The decoder of the informer on the same pods in JSON and in protobuf; nothing is kept.

use std::hint::black_box;

use anyhow::{Context, Result, bail};
use informer_bench::command_line::CommandLine;
use informer_bench::measure::{Mark, Report};
use informer_bench::small_pod::SmallPod;
use informer_factory::{Buffers, Projection, SerdeDecoder, TypeNames};
use informer_kube_protobuf::{Schema, to_vec};
use k8s_openapi::api::core::v1::Pod;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::decode;

/// The number of pods: so few that their bytes stay in the cache, as those of an object that has
/// just been received. With 5,000 of them memory is measured, too.
const PODS: usize = 500;
/// The number of alternating turns, of which the fastest counts.
const TURNS: usize = 40;

/// Decodes the first pods of the server again and again.
pub(crate) fn run(command_line: &CommandLine) -> Result<()> {
    let list: Value = serde_json::from_slice(&decode::body(&command_line.server)?)?;
    let pods = list["items"].as_array().context("a list has items")?;
    let schema = Schema::of("v1", "Pod").context("pods are built in")?;
    let mut objects = Vec::with_capacity(PODS.min(pods.len()));
    for pod in pods.iter().take(PODS) {
        objects.push((pod.to_string(), to_vec(schema, pod)?));
    }
    if objects.is_empty() {
        bail!("the server has no pods");
    }
    let mut report = Report::new("informer");
    measure::<Pod>("full", Projection::new(), &objects, &mut report)?;
    measure::<Pod>("lean", Projection::lean(), &objects, &mut report)?;
    measure::<SmallPod>("partial", SmallPod::projection(), &objects, &mut report)?;
    let count = objects.len() as f64;
    let json: usize = objects.iter().map(|(text, _)| text.len()).sum();
    let protobuf: usize = objects.iter().map(|(_, message)| message.len()).sum();
    report.set("json_bytes", json as f64 / count);
    report.set("protobuf_bytes", protobuf as f64 / count);
    report.print();
    Ok(())
}

fn measure<T: DeserializeOwned + 'static>(
    name: &str,
    projection: Projection,
    objects: &[(String, Vec<u8>)],
    report: &mut Report,
) -> Result<()> {
    let decoder = SerdeDecoder::new(projection);
    let names = TypeNames::new("v1", "Pod");
    let mut buffers = Buffers::default();
    let (mut json, mut protobuf) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        let begin = Mark::now(0.0).wall;
        for (text, _) in objects {
            black_box(decoder.decode_text::<T>(text, &mut buffers)?);
        }
        let between = Mark::now(0.0).wall;
        for (_, message) in objects {
            black_box(decoder.decode_message::<T>(message, names)?);
        }
        let end = Mark::now(0.0).wall;
        let each = |spent: std::time::Duration| spent.as_nanos() as f64 / objects.len() as f64;
        json = json.min(each(between.saturating_sub(begin)));
        protobuf = protobuf.min(each(end.saturating_sub(between)));
    }
    report.set(format!("{name}_json_ns"), json);
    report.set(format!("{name}_protobuf_ns"), protobuf);
    Ok(())
}
