//! The store alone: its writer beside readers of snapshots.

use std::hint::black_box;
use std::sync::Arc;

use anyhow::Result;
use informer_bench::beside::{self, Question, due, namespace_of};
use informer_bench::command_line::CommandLine;
use informer_factory::ObjectKey;
use informer_factory::store::{Entry, Scope, store};
use k8s_openapi::api::core::v1::Pod;

/// Measures and reports.
pub(crate) async fn run(command_line: &CommandLine, question: Question) -> Result<()> {
    let objects = command_line.objects;
    let pods = question.pods(objects).map(shared);
    let (mut writer, reader) = store::<Pod>();
    writer.add_index("namespace", |pod: &Pod| [namespace_of(pod).to_owned()])?;
    let listed: Result<Vec<_>> = pods[1].iter().map(stored).collect();
    writer.replace(Scope::All, listed?, "1".into());
    let write = move |turn: u64| {
        let (version, pod) = due(turn, objects);
        let (key, entry) = stored(&pods[version][pod]).expect("every pod has a name");
        writer.upsert(key, entry);
    };
    let namespace = question.namespace(0, objects);
    let read = move || {
        let snapshot = reader.snapshot();
        let mut seen = 0;
        let mut look = |entry: &Entry<Pod>| {
            black_box(Arc::as_ptr(&entry.object));
            seen += 1;
        };
        match question {
            Question::All => snapshot.iter().for_each(|(_, entry)| look(entry)),
            Question::Namespace => {
                let entries = snapshot.by_index("namespace", &namespace);
                let entries = entries.expect("the index was added");
                entries.for_each(|(_, entry)| look(entry));
            }
        }
        seen
    };
    beside::run("informer", command_line, write, read)
        .await?
        .print();
    Ok(())
}

fn shared(pods: Vec<Pod>) -> Vec<Arc<Pod>> {
    pods.into_iter().map(Arc::new).collect()
}

/// With key and identity taken from the pod, as for every event.
fn stored(pod: &Arc<Pod>) -> Result<(ObjectKey, Entry<Pod>)> {
    let metadata = &pod.metadata;
    let name = metadata.name.as_deref().unwrap_or_default();
    let key = ObjectKey::new(metadata.namespace.as_deref(), name)?;
    let uid = metadata.uid.as_deref().unwrap_or_default();
    let version = metadata.resource_version.as_deref().unwrap_or_default();
    Ok((key, Entry::new(Arc::clone(pod), uid, version)))
}
