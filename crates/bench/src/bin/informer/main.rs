//! The informer as it is used: a factory over its own client, one informer, handlers that count.
//!
//! Variants: `full`, `lean` (without managed fields and last-applied), `partial` (a type of eight
//! fields), `decode`, which only decodes the same list in a loop and keeps the objects, and
//! `parts`, which measures single operations.
//! `idle` starts many informers that have nothing to do.
//! `beside-all` and `beside-namespace` measure the store alone, its writer beside readers.

mod beside;
mod decode;
mod idle;
mod late;
mod parts;

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
    Added, Handler, InformerOptions, ObjectKey, Projection, SharedInformerFactory, Updated,
};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Config;
use kube_core::Resource;
use serde::de::DeserializeOwned;

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
    match &*command_line.variant {
        "full" => follow::<Pod>(&command_line, Projection::new(), stamp).await,
        "lean" => follow::<Pod>(&command_line, Projection::lean(), stamp).await,
        "partial" => {
            let projection = SmallPod::projection();
            follow::<SmallPod>(&command_line, projection, is_whole).await
        }
        "decode" => decode::run(&command_line),
        "idle" => idle::run(&command_line).await,
        "parts" => parts::run(&command_line).await,
        other => bail!("no variant {other}"),
    }
}

async fn follow<K>(
    command_line: &CommandLine,
    projection: Projection,
    stamp: fn(&K) -> Option<&str>,
) -> Result<()>
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
    K::Scope: 'static,
{
    let calls = Calls {
        initial: command_line.objects,
        relist: command_line.changed,
    };
    let mut owner = None;
    let start = |goal: &Arc<Goal>| {
        let url = format!("http://{}", command_line.server).parse()?;
        let client = informer_factory::client(Config::new(url))?;
        let factory = SharedInformerFactory::new(client);
        let mut reflector = ReflectorConfig::default();
        reflector.streaming = command_line.list == Listing::WatchList;
        let options = InformerOptions::new()
            .projection(projection)
            .reflector(reflector);
        let informer = factory.informer_with::<K>(options)?;
        for _ in 0..command_line.handlers {
            let tally = goal.tally();
            informer.add_handler(Counter { tally, stamp })?;
        }
        factory.start()?;
        owner = Some(factory);
        Ok(move || informer.status().objects)
    };
    let report = phases::run("informer", command_line, calls, start).await?;
    report.print();
    // Dropping 100,000 objects is not measured; the factory ends with the process.
    std::mem::forget(owner);
    Ok(())
}

/// Counts additions and updates alike.
struct Counter<K> {
    tally: Tally,
    stamp: fn(&K) -> Option<&str>,
}

impl<K: 'static> Handler<ObjectKey, K> for Counter<K> {
    fn on_add(&mut self, added: &Added<ObjectKey, K>) {
        self.tally.add(|| (self.stamp)(&added.object));
    }

    fn on_update(&mut self, updated: &Updated<ObjectKey, K>) {
        self.tally.add(|| (self.stamp)(&updated.new));
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
