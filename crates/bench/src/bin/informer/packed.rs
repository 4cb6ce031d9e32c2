//! Packed pods: with a view of what controllers read of every pod and two indexes, and plain.

use anyhow::Result;
use informer_bench::pod::STAMP;
use informer_factory::{
    HasLabels, HasNode, HasOwners, InformerOptions, Labels, NoView, Owner, PackedObject,
    SharedInformer, SharedInformerFactory, index,
};
use k8s_openapi::api::core::v1::Pod;
use serde::{Deserialize, Deserializer};

/// Labels, node, phase, the uid of the owner, and the stamp.
#[derive(Deserialize)]
pub(crate) struct PodView {
    metadata: MetadataView,
    spec: SpecView,
    #[expect(dead_code, reason = "a program would read it; here it takes memory")]
    status: StatusView,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetadataView {
    #[serde(default)]
    labels: Labels,
    #[serde(default, deserialize_with = "first_uid")]
    owner_references: Option<Box<str>>,
    annotations: Annotations,
}

#[derive(Deserialize)]
struct Annotations {
    #[serde(rename = "bench.informer.example/stamp")]
    stamp: Box<str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecView {
    node_name: Option<Box<str>>,
}

#[derive(Deserialize)]
struct StatusView {
    #[expect(dead_code, reason = "a program would read it; here it takes memory")]
    phase: Phase,
}

#[derive(Deserialize)]
enum Phase {
    Pending,
    Running,
    Succeeded,
    Failed,
    Unknown,
}

/// The uid of the first owner.
fn first_uid<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<str>>, D::Error> {
    #[derive(Deserialize)]
    struct Reference {
        uid: Box<str>,
    }
    let owners = Vec::<Reference>::deserialize(deserializer)?;
    Ok(owners.into_iter().next().map(|owner| owner.uid))
}

impl HasLabels for PodView {
    fn label(&self, name: &str) -> Option<&str> {
        self.metadata.labels.get(name)
    }
}

impl HasNode for PodView {
    fn node(&self) -> Option<&str> {
        self.spec.node_name.as_deref()
    }
}

impl HasOwners for PodView {
    fn owners(&self) -> impl Iterator<Item = Owner<'_>> {
        let owner = self.metadata.owner_references.as_deref();
        owner.map(|uid| Owner::new(uid, true)).into_iter()
    }
}

pub(crate) fn viewed(
    factory: &SharedInformerFactory,
) -> Result<SharedInformer<PackedObject<Pod, PodView>>> {
    let informer = factory.packed_with(InformerOptions::new())?;
    informer.add_index("node", index::node)?;
    informer.add_index("owner", index::owner_uid)?;
    Ok(informer)
}

pub(crate) fn plain(factory: &SharedInformerFactory) -> Result<SharedInformer<PackedObject<Pod>>> {
    Ok(factory.packed_with::<Pod, NoView>(InformerOptions::new())?)
}

pub(crate) fn stamp(pod: &PackedObject<Pod, PodView>) -> Option<&str> {
    const { assert!(STAMP.len() == "bench.informer.example/stamp".len()) };
    Some(&pod.view().metadata.annotations.stamp)
}

/// Latency is not measured without a view.
pub(crate) fn no_stamp(_: &PackedObject<Pod>) -> Option<&str> {
    Some("0")
}
