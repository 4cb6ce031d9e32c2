//! Decodes the saved answer of an API server: whole, and item by item into a type of its own.
//!
//! `cargo run -p informer-kube-protobuf --example saved_answer`

use std::error::Error;

use informer_kube_protobuf::{Envelope, Identity, ListPart, ListParts, Schema, from_slice};
use k8s_openapi::List;
use k8s_openapi::api::core::v1::Pod;
use serde::Deserialize;

/// The fields that this program needs. The strings are borrowed from the answer.
#[derive(Deserialize)]
struct Small<'a> {
    #[serde(borrow)]
    spec: Spec<'a>,
    #[serde(borrow)]
    status: Status<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec<'a> {
    node_name: Option<&'a str>,
}

#[derive(Deserialize)]
struct Status<'a> {
    phase: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMeta<'a> {
    resource_version: &'a str,
    #[serde(rename = "continue")]
    token: Option<&'a str>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let body = include_bytes!("../tests/data/pods.bin");
    let answer = Envelope::parse(body)?;
    println!("{} of {}", answer.kind, answer.api_version);

    // Whole, as a type of k8s-openapi.
    let pods: List<Pod> = answer.decode()?;
    println!("{} pods", pods.items.len());

    // In parts: what is not in `Small` is skipped.
    let schema = answer.schema().and_then(Schema::item).ok_or("not a list")?;
    for part in ListParts::new(answer.raw) {
        match part? {
            ListPart::Metadata(bytes) => {
                let schema = Schema::message("meta/v1.ListMeta").ok_or("in every table")?;
                let meta: ListMeta<'_> = from_slice(schema, bytes)?;
                println!("version {}, more: {:?}", meta.resource_version, meta.token);
            }
            ListPart::Item(bytes) => {
                let name = str::from_utf8(Identity::read(bytes)?.name)?;
                let pod: Small<'_> = from_slice(schema, bytes)?;
                let node = pod.spec.node_name.unwrap_or("no node");
                println!("{name}: {} on {node}", pod.status.phase);
            }
            _ => {}
        }
    }
    Ok(())
}
