//! The store alone: its writer beside readers. There are no indexes, so the only question is for
//! everything.

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube_runtime::reflector;
use kube_runtime::watcher::Event;

use crate::beside::{self, Question, due};
use crate::command_line::CommandLine;

/// Measures and reports.
pub(crate) async fn run(command_line: &CommandLine, question: Question) -> Result<()> {
    ensure!(question == Question::All, "kube-runtime has no indexes");
    let objects = command_line.objects;
    let pods = question.pods(objects);
    let (store, mut writer) = reflector::store::<Pod>();
    writer.apply_watcher_event(&Event::Init);
    for pod in &pods[1] {
        writer.apply_watcher_event(&Event::InitApply(pod.clone()));
    }
    writer.apply_watcher_event(&Event::InitDone);
    let events = pods.map(events);
    let write = move |turn: u64| {
        let (version, pod) = due(turn, objects);
        writer.apply_watcher_event(&events[version][pod]);
    };
    let read = move || store.state().len();
    beside::run("kube-runtime", command_line, write, read)
        .await?
        .print();
    Ok(())
}

fn events(pods: Vec<Pod>) -> Vec<Event<Pod>> {
    pods.into_iter().map(Event::Apply).collect()
}
