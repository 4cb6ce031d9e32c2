//! Single operations of kube-runtime's store, with the server's pods and without a watch.

use std::hint::black_box;

use anyhow::{Result, bail};
use k8s_openapi::api::core::v1::Pod;
use kube_client::api::ListParams;
use kube_client::{Api, Client, Config};
use kube_runtime::reflector::{self, ObjectRef};
use kube_runtime::watcher::Event;

use crate::batches;
use crate::command_line::CommandLine;
use crate::measure::Report;

/// How many pods updates take turns with.
const CHANGING: usize = 10_000;

/// Measures all of them.
pub(crate) async fn run(command_line: &CommandLine) -> Result<()> {
    let pods = download(command_line).await?;
    if pods.len() as u64 != command_line.objects {
        bail!("{} pods listed", pods.len());
    }
    // In an order that defeats caches, as the operations of ours have it.
    let scattered = |turn: usize| &pods[turn * 2_654_435_761 % pods.len()];
    let keys = (0..pods.len()).map(|turn| ObjectRef::from_obj(scattered(turn)));
    let keys: Vec<ObjectRef<Pod>> = keys.collect();
    let changing = (0..pods.len().min(CHANGING)).map(|turn| scattered(turn).clone());
    let changes: Vec<Event<Pod>> = changing.map(Event::Apply).collect();
    let (store, mut writer) = reflector::store();
    for pod in pods {
        writer.apply_watcher_event(&Event::Apply(pod));
    }
    let mut report = Report::new("kube-runtime");
    let mut next = 0;
    batches::report(&mut report, "store_get", 1, |times| {
        for _ in 0..times {
            next = if next + 1 < keys.len() { next + 1 } else { 0 };
            black_box(store.get(&keys[next]).expect("it is stored"));
        }
    });
    batches::report(&mut report, "store_iterate", 1, |times| {
        for _ in 0..times {
            let all = store.state();
            let name = |pod: &Pod| pod.metadata.name.as_ref().map_or(0, String::len);
            black_box(all.iter().map(|pod| name(pod)).sum::<usize>());
        }
    });
    batches::report(&mut report, "store_list", 1, |times| {
        for _ in 0..times {
            black_box(store.state());
        }
    });
    let mut changes = changes.iter().cycle();
    batches::report(&mut report, "store_update", 1, |times| {
        for _ in 0..times {
            writer.apply_watcher_event(changes.next().expect("it begins again"));
        }
    });
    report.print();
    // Dropping 100,000 objects is not measured.
    std::process::exit(0);
}

async fn download(command_line: &CommandLine) -> Result<Vec<Pod>> {
    let url = format!("http://{}", command_line.server).parse()?;
    let client = Client::try_from(Config::new(url))?;
    let pods = Api::<Pod>::all(client);
    let mut page = ListParams::default().limit(500);
    let mut all = Vec::new();
    loop {
        let list = pods.list(&page).await?;
        all.extend(list.items);
        match list.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(all),
        }
    }
}
