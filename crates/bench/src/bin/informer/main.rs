//! The informer as it is used: a factory over its own client, one informer, handlers that count.
//!
//! Variants: `full`, `lean` (without managed fields and last-applied), `partial` (a type of eight
//! fields), `packed` (bytes beside a view, with two indexes), `packed-plain` (bytes only),
//! `packed-view` and `packed-read`, whose handler reads five fields before and after each change
//! from the view or by unpacking, `packed-once`, which reads single objects, `decode`, which only
//! decodes the same list in a loop and keeps the objects, `wires`, which decodes JSON and protobuf,
//! and `parts`, which measures single operations. A variant with `-protobuf` at its end fails
//! unless its objects arrive in protobuf. `metadata` is the metadata of a custom resource,
//! and `metadata-lean` without managed fields and last-applied.
//! `idle` starts many informers that have nothing to do.
//! `beside-all` and `beside-namespace` measure the store alone, its writer beside readers.

mod beside;
mod decode;
mod idle;
mod late;
mod metadata;
mod packed;
mod parts;
mod wires;

use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Parser;
use informer_bench::beside::Question;
use informer_bench::command_line::{CommandLine, Listing};
use informer_bench::phases::{self, Calls};
use informer_bench::pod::STAMP;
use informer_bench::small_pod::SmallPod;
use informer_bench::tally::{Goal, Tally};
use informer_factory::reflector::Config as ReflectorConfig;
use informer_factory::{
    Added, Handler, InformerOptions, ObjectKey, Projection, ReceivedWire, SharedInformer,
    SharedInformerFactory, SourceStatus, Updated, WireFormat,
};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Config;
use kube_core::Resource;
use serde::de::DeserializeOwned;

/// The end of the name of a variant whose server has the pods in protobuf.
const PROTOBUF: &str = "-protobuf";

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> Result<()> {
    let command_line = CommandLine::parse();
    if let Some(question) = Question::of(&command_line.variant) {
        return beside::run(&command_line, question).await;
    }
    if command_line.joins > 0 {
        return late::run(&command_line).await;
    }
    match command_line.variant.trim_end_matches(PROTOBUF) {
        "full" => {
            let informer = typed::<Pod>(Projection::new());
            follow(&command_line, informer, Look::at_stamp(stamp)).await
        }
        "lean" => {
            let informer = typed::<Pod>(Projection::lean());
            follow(&command_line, informer, Look::at_stamp(stamp)).await
        }
        "partial" => {
            let informer = typed::<SmallPod>(SmallPod::projection());
            follow(&command_line, informer, Look::at_stamp(is_whole)).await
        }
        "packed" => {
            let look = Look::at_stamp(packed::stamp);
            follow(&command_line, packed::viewed, look).await
        }
        "packed-view" => {
            let look = Look::at_stamp(packed::stamp).and(packed::view_five);
            follow(&command_line, packed::viewed, look).await
        }
        "packed-read" => {
            let look = Look::at_stamp(packed::stamp).and(packed::read_five);
            follow(&command_line, packed::viewed, look).await
        }
        "packed-plain" => {
            let look = Look::at_stamp(packed::no_stamp);
            follow(&command_line, packed::plain, look).await
        }
        variant @ ("metadata" | "metadata-lean") => {
            let projection = match variant {
                "metadata" => Projection::new(),
                _ => Projection::lean(),
            };
            let wire = match command_line.variant.ends_with(PROTOBUF) {
                true => WireFormat::Protobuf,
                false => WireFormat::Json,
            };
            let look = Look::at_stamp(metadata::stamp);
            follow(&command_line, metadata::informer(wire, projection), look).await
        }
        "packed-once" => packed::once(&command_line).await,
        "decode" => decode::run(&command_line),
        "wires" => wires::run(&command_line),
        "idle" => idle::run(&command_line, false).await,
        "idle-packed" => idle::run(&command_line, true).await,
        "parts" => parts::run(&command_line).await,
        other => bail!("no variant {other}"),
    }
}

/// Requests an informer of decoded objects.
fn typed<K>(
    projection: Projection,
) -> impl FnOnce(&SharedInformerFactory) -> Result<SharedInformer<K>>
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
    K::Scope: 'static,
{
    let options = InformerOptions::new().projection(projection);
    |factory| Ok(factory.informer_with(options)?)
}

async fn follow<T: Send + Sync + 'static>(
    command_line: &CommandLine,
    request: impl FnOnce(&SharedInformerFactory) -> Result<SharedInformer<T>>,
    look: Look<T>,
) -> Result<()> {
    let calls = Calls {
        initial: command_line.objects,
        relist: command_line.changed,
    };
    let mut owner = None;
    let start = |goal: &Arc<Goal>| {
        let url = format!("http://{}", command_line.server).parse()?;
        let client = informer_factory::client(Config::new(url))?;
        let streaming = command_line.list == Listing::WatchList;
        let factory = SharedInformerFactory::builder(client)
            .reflector(ReflectorConfig::default().streaming(streaming))
            .build()?;
        let informer = request(&factory)?;
        for _ in 0..command_line.handlers {
            let tally = goal.tally();
            informer.add_handler(Counter { tally, look })?;
        }
        factory.start()?;
        owner = Some((factory, informer.clone()));
        Ok(move || informer.status().objects)
    };
    let mut report = phases::run("informer", command_line, calls, start).await?;
    let received = owner
        .as_ref()
        .map(|(_, informer)| informer.status().sources);
    let is_protobuf = |source: &SourceStatus| source.wire == Some(ReceivedWire::Protobuf);
    if command_line.variant.ends_with(PROTOBUF)
        && !received.is_some_and(|sources| sources.iter().all(is_protobuf))
    {
        bail!("the objects did not arrive in protobuf");
    }
    if let Some((_, informer)) = &owner {
        // What the informer says of itself, beside what the process takes.
        let memory = informer.status().memory;
        report.set("told_objects_bytes", memory.objects as f64);
        report.set("told_keys_bytes", memory.keys as f64);
        report.set("told_indexes_bytes", memory.indexes as f64);
    }
    report.print();
    // Dropping 100,000 objects is not measured; the factory ends with the process.
    std::mem::forget(owner);
    Ok(())
}

/// The parts of an object that a handler reads.
struct Look<K> {
    stamp: fn(&K) -> Option<&str>,
    /// Called with both objects of an update.
    read: fn(&K),
}

impl<K> Clone for Look<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Look<K> {}

impl<K> Look<K> {
    /// Nothing but the stamp, and that only where latency is measured.
    fn at_stamp(stamp: fn(&K) -> Option<&str>) -> Self {
        Self {
            stamp,
            read: |_| {},
        }
    }

    fn and(self, read: fn(&K)) -> Self {
        Self { read, ..self }
    }
}

/// Counts additions and updates alike.
struct Counter<K> {
    tally: Tally,
    look: Look<K>,
}

impl<K: 'static> Handler<ObjectKey, K> for Counter<K> {
    fn on_add(&mut self, added: &Added<ObjectKey, K>) {
        self.tally.add(|| (self.look.stamp)(&added.object));
    }

    fn on_update(&mut self, updated: &Updated<ObjectKey, K>) {
        (self.look.read)(&updated.old);
        (self.look.read)(&updated.new);
        self.tally.add(|| (self.look.stamp)(&updated.new));
    }
}

fn stamp(pod: &Pod) -> Option<&str> {
    pod.metadata
        .annotations
        .as_ref()?
        .get(STAMP)
        .map(String::as_str)
}

/// A partial pod has no stamp; latency is not measured with it.
fn is_whole(pod: &SmallPod) -> Option<&str> {
    pod.is_whole().then_some("0")
}
