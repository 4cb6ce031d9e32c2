//! Packed pods: with a view of what controllers read of every pod and two indexes, and plain.

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

use anyhow::Result;
use informer_bench::command_line::CommandLine;
use informer_bench::measure::{Mark, Report};
use informer_bench::pod::STAMP;
use informer_factory::{
    Buffers, HasLabels, HasNode, HasOwners, InformerOptions, Labels, NoView, Owner, PackedObject,
    ReceivedWire, SerdeDecoder, SharedInformer, SharedInformerFactory, SharedStr, index,
};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Config;
use serde::{Deserialize, Deserializer};

/// How long a first list may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// The number of objects that are read one by one.
const ONCE: usize = 5_000;
/// The number of alternating turns, of which the fastest counts.
const TURNS: usize = 10;

/// Labels, node, phase, the uid of the owner, and the stamp.
#[derive(Deserialize)]
pub(crate) struct PodView {
    metadata: MetadataView,
    spec: SpecView,
    status: StatusView,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetadataView {
    #[serde(default)]
    labels: Labels,
    #[serde(default, deserialize_with = "first_uid")]
    owner_references: Option<SharedStr>,
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
    node_name: Option<SharedStr>,
}

#[derive(Deserialize)]
struct StatusView {
    phase: Phase,
}

#[derive(Clone, Copy, Deserialize)]
enum Phase {
    Pending,
    Running,
    Succeeded,
    Failed,
    Unknown,
}

/// The uid of the first owner.
fn first_uid<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SharedStr>, D::Error> {
    #[derive(Deserialize)]
    struct Reference {
        uid: SharedStr,
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

/// Five fields of the view.
pub(crate) fn view_five(pod: &PackedObject<Pod, PodView>) {
    let view = pod.view();
    let labels = (view.label("app"), view.label("tier"));
    let owner = view.metadata.owner_references.as_deref();
    black_box((labels, owner, view.node(), view.status.phase));
}

/// Five other fields, which the view does not have.
#[derive(Deserialize)]
struct FiveFields {
    spec: FiveOfSpec,
    status: FiveOfStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FiveOfSpec {
    service_account_name: String,
    restart_policy: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FiveOfStatus {
    #[serde(rename = "podIP")]
    pod_ip: String,
    start_time: String,
    qos_class: String,
}

/// Five fields, unpacked.
pub(crate) fn read_five(pod: &PackedObject<Pod, PodView>) {
    let read: FiveFields = pod.read().expect("the server sends such pods");
    let FiveFields { spec, status } = read;
    black_box((spec.service_account_name, spec.restart_policy));
    black_box((status.pod_ip, status.start_time, status.qos_class));
}

/// Follows the pods, and measures how long they are packed and, in JSON, how long it takes to read
/// one.
pub(crate) async fn once(command_line: &CommandLine) -> Result<()> {
    let url = format!("http://{}", command_line.server).parse()?;
    let factory = SharedInformerFactory::new(informer_factory::client(Config::new(url))?);
    let informer = viewed(&factory)?;
    factory.start()?;
    factory.wait_synced(PATIENCE).await?;
    let pods = informer.lister().all();
    let mut report = Report::new("informer");
    let packed: usize = pods.iter().map(|pod| pod.content().packed_len()).sum();
    report.set("packed_bytes", packed as f64 / pods.len().max(1) as f64);
    let wires = informer.status().sources;
    if wires
        .iter()
        .any(|source| source.wire == Some(ReceivedWire::Protobuf))
    {
        // The times are of the text.
        report.print();
        std::mem::forget(factory);
        return Ok(());
    }
    let texts = pods.iter().take(ONCE).map(|pod| {
        let (_, bytes) = pod.raw()?;
        Ok(String::from_utf8(bytes.into_owned())?)
    });
    let texts = texts.collect::<Result<Vec<String>>>()?;
    let decoder = SerdeDecoder::default();
    let buffers = RefCell::new(Buffers::default());
    let unpack = |number: usize| drop(black_box(pods[number].unpack()));
    let decode = |number: usize| {
        let decoded = decoder.decode_text::<Pod>(&texts[number], &mut buffers.borrow_mut());
        drop(black_box(decoded));
    };
    let read_five = |number: usize| read_five(&pods[number]);
    let serde_json = |number: usize| {
        drop(black_box(serde_json::from_str::<Pod>(&texts[number])));
    };
    let ways: [(&str, &dyn Fn(usize)); 4] = [
        ("unpack", &unpack),
        ("decode", &decode),
        ("read_five", &read_five),
        ("serde_json", &serde_json),
    ];
    let mut fastest = [f64::INFINITY; 4];
    for _ in 0..TURNS {
        for ((_, read), fastest) in ways.iter().zip(&mut fastest) {
            let begin = Mark::now(0.0).wall;
            (0..texts.len()).for_each(read);
            let spent = Mark::now(0.0).wall.saturating_sub(begin);
            let each = spent.as_nanos() as f64 / texts.len().max(1) as f64;
            *fastest = fastest.min(each);
        }
    }
    for ((name, _), fastest) in ways.iter().zip(fastest) {
        report.set(format!("{name}_ns"), fastest);
    }
    report.print();
    std::mem::forget(factory);
    Ok(())
}
