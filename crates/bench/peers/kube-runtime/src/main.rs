//! kube-runtime as it is used: a watcher whose events go through a reflector into a store.
//!
//! With one handler that is the consumer of the stream itself, the cheapest way there is. With more
//! they are subscribers of a shared store.

#[path = "../../../src/batches.rs"]
mod batches;
#[path = "../../../src/beside.rs"]
mod beside;
#[path = "../../../src/command_line.rs"]
mod command_line;
#[path = "../../../src/control.rs"]
mod control;
#[path = "../../../src/floor.rs"]
mod floor;
#[path = "../../../src/idle.rs"]
mod idle;
#[path = "../../../src/measure.rs"]
mod measure;
mod parts;
#[path = "../../../src/phases.rs"]
mod phases;
mod stored;
#[path = "../../../src/tally.rs"]
mod tally;

use std::sync::Arc;

use anyhow::{Result, bail};
use clap::Parser;
use futures::StreamExt;
use k8s_openapi::api::core::v1::Pod;
use kube_client::{Api, Client, Config};
use kube_runtime::WatchStreamExt;
use kube_runtime::reflector::{self, Store};
use kube_runtime::watcher::{self, Event, watcher};

use beside::Question;
use command_line::{CommandLine, Listing};
use phases::Calls;
use tally::Goal;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The buffer of a shared store; with a small one each slow subscriber stops all.
const SUBSCRIBER_BUFFER: usize = 1_024;

/// The annotation that says when an event was published.
const STAMP: &str = "bench.informer.example/stamp";

#[tokio::main]
async fn main() -> Result<()> {
    let command_line = CommandLine::parse();
    if let Some(question) = Question::of(&command_line.variant) {
        return stored::run(&command_line, question).await;
    }
    if command_line.joins > 0 {
        bail!("kube-runtime has no handlers that are told what there is when they join late");
    }
    match &*command_line.variant {
        "full" => follow(&command_line).await,
        "parts" => parts::run(&command_line).await,
        "idle" => many(&command_line).await,
        other => bail!("kube-runtime has no variant {other}"),
    }
}

async fn follow(command_line: &CommandLine) -> Result<()> {
    // A consumer of the stream also hears that the list is over; only then it is in the store.
    // A relist announces every object again.
    let ends = u64::from(command_line.handlers == 1);
    let calls = Calls {
        initial: command_line.objects + ends,
        relist: command_line.objects + ends,
    };
    let start = |goal: &Arc<Goal>| {
        let url = format!("http://{}", command_line.server).parse()?;
        let client = Client::try_from(Config::new(url))?;
        let store = start(command_line, client, goal);
        Ok(move || store.len())
    };
    let report = phases::run("kube-runtime", command_line, calls, start).await?;
    report.print();
    // The watch never ends by itself.
    std::process::exit(0);
}

/// Many streams, each with a store and a selector of its own.
async fn many(command_line: &CommandLine) -> Result<()> {
    let start = |goal: &Arc<Goal>| {
        let url = format!("http://{}", command_line.server).parse()?;
        let client = Client::try_from(Config::new(url))?;
        for which in 0..command_line.informers {
            let config = watcher::Config::default().labels(&format!("which={which}"));
            drop(consume(config, client.clone(), goal));
        }
        Ok(())
    };
    // The end of the list is a call as well.
    let report = idle::run("kube-runtime", command_line, 1, start).await?;
    report.print();
    // The watches never end by themselves.
    std::process::exit(0);
}

fn start(command_line: &CommandLine, client: Client, goal: &Arc<Goal>) -> Store<Pod> {
    let mut config = watcher::Config::default();
    if command_line.list == Listing::WatchList {
        config = config.streaming_lists();
    }
    if command_line.handlers == 1 {
        return consume(config, client, goal);
    }
    let events = watcher(Api::<Pod>::all(client), config).default_backoff();
    let (store, writer) = reflector::store_shared(SUBSCRIBER_BUFFER);
    for _ in 0..command_line.handlers {
        let subscriber = writer.subscribe().expect("the store is shared");
        let mut tally = goal.tally();
        tokio::spawn(subscriber.for_each(move |pod| {
            tally.add(|| stamp(&pod));
            std::future::ready(())
        }));
    }
    tokio::spawn(events.reflect_shared(writer).for_each(|event| {
        if let Err(error) = event {
            eprintln!("kube-runtime: {error}");
        }
        std::future::ready(())
    }));
    store
}

/// A store filled by a stream, whose consumer counts what passes.
fn consume(config: watcher::Config, client: Client, goal: &Arc<Goal>) -> Store<Pod> {
    let events = watcher(Api::<Pod>::all(client), config).default_backoff();
    let (store, writer) = reflector::store();
    let mut tally = goal.tally();
    tokio::spawn(events.reflect(writer).for_each(move |event| {
        match event {
            Ok(Event::Apply(pod) | Event::InitApply(pod) | Event::Delete(pod)) => {
                tally.add(|| stamp(&pod));
            }
            Ok(Event::InitDone) => tally.add(|| None),
            Ok(Event::Init) => {}
            Err(error) => eprintln!("kube-runtime: {error}"),
        }
        std::future::ready(())
    }));
    store
}

fn stamp(pod: &Pod) -> Option<&str> {
    pod.metadata
        .annotations
        .as_ref()?
        .get(STAMP)
        .map(String::as_str)
}
