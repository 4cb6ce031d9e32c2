//! The judgement: cache against server, handlers against cache, and the handlers' accounts.
//!
//! Reads the server's own state, not what it answered over HTTP.

use informer_factory::StoreReader;
use informer_testkit::{ApiServer, Resource};

use super::cluster::Cluster;
use super::handlers::Watched;
use super::informers::Informers;
use super::object::{DemoObject, DemoPod};
use super::report::HandlerReport;
use super::settle::Settled;
use crate::failure::Failure;

/// What was found.
#[derive(Debug)]
pub(super) struct Verdict {
    /// How many pods the cache holds.
    pub(super) objects: usize,
    /// Whether the cache holds the same keys, versions and uids as the server.
    pub(super) store_matches: bool,
    /// Each handler.
    pub(super) handlers: Vec<HandlerReport>,
    /// Everything that is wrong, in words.
    pub(super) complaints: Vec<String>,
}

impl Verdict {
    /// An error if anything is wrong.
    pub(super) fn into_result(self) -> Result<(), Failure> {
        if self.complaints.is_empty() {
            return Ok(());
        }
        Err(Failure::failed(self.complaints.join("; ")))
    }
}

/// Looks at everything.
pub(super) fn judge<P: DemoPod>(
    informers: &Informers<P>,
    cluster: &Cluster,
    settled: &Settled,
) -> Result<Verdict, Failure> {
    let server = cluster.server();
    let (pods, nodes) = (informers.pods.reader(), informers.nodes.reader());
    let mut complaints: Vec<_> = settled.behind.iter().map(ToString::to_string).collect();
    let differences = [
        compare(server, &Resource::pods(), &pods)?,
        compare(server, &Resource::nodes(), &nodes)?,
    ];
    let store_matches = differences.iter().all(Vec::is_empty);
    complaints.extend(differences.into_iter().flatten());
    let handlers: Vec<_> = reports(&informers.pod_handlers, &pods)
        .chain(reports(&informers.node_handlers, &nodes))
        .collect();
    if !settled.drained {
        complaints.push("the handlers did not get through with what they were given".to_owned());
    }
    for handler in &handlers {
        if !handler.matches_store {
            let name = &handler.name;
            complaints.push(format!(
                "the notifications of handler {name} do not add up to what the cache holds"
            ));
        }
        if !handler.accounted {
            complaints.push(format!(
                "the account of handler {} does not add up",
                handler.name
            ));
        }
    }
    Ok(Verdict {
        objects: pods.len(),
        store_matches,
        handlers,
        complaints,
    })
}

fn reports<'a, T>(
    handlers: &'a [Watched<T>],
    store: &'a StoreReader<T>,
) -> impl Iterator<Item = HandlerReport> + 'a
where
    T: DemoObject,
{
    handlers.iter().map(|handler| handler.report(store))
}

/// The first differences between the server's state and the cache.
fn compare<T: Send + Sync + 'static>(
    server: &ApiServer,
    resource: &Resource,
    store: &StoreReader<T>,
) -> Result<Vec<String>, Failure> {
    const SHOWN: usize = 5;
    let failed = |e| Failure::failed(format!("the demo's own server cannot be read: {e}"));
    let (objects, version) = server.snapshot(resource).map_err(failed)?;
    let snapshot = store.snapshot();
    let what = &resource.plural;
    let mut differences = Vec::new();
    if objects.len() != snapshot.len() {
        let (theirs, ours) = (objects.len(), snapshot.len());
        differences.push(format!("the server has {theirs} {what}, the cache {ours}"));
    }
    for object in &objects {
        let identity = object.identity();
        let key = &identity.key;
        let theirs = (&identity.uid, &identity.version);
        let ours = snapshot
            .get(key.as_str())
            .map(|entry| (&entry.uid, &entry.version));
        if ours != Some(theirs) && differences.len() < SHOWN {
            differences.push(format!(
                "at version {version} the server has {what} {key} as {theirs:?}, the cache {ours:?}"
            ));
        }
    }
    Ok(differences)
}

#[cfg(test)]
mod tests {
    use informer_factory::ObjectKey;
    use informer_factory::store::{Batch, Entry, store};
    use serde_json::json;

    use super::*;

    /// The judge can find fault: a missing, a superfluous and an outdated object.
    #[test]
    fn differences_are_found() {
        let server = ApiServer::new();
        let nodes = Resource::nodes();
        let node = |name: &str| json!({"metadata": {"name": name}});
        let a = server.create(&nodes, node("a")).expect("new");
        let b = server.create(&nodes, node("b")).expect("new");
        let (mut writer, reader) = store::<()>();
        let key = |name: &str| ObjectKey::new(None, name).expect("a name");
        let entry = |uid: &str, version: &str| Entry::new((), uid, version);
        let mut batch = Batch::new();
        batch.upsert(key("a"), entry(a.uid(), &a.version().to_string()));
        batch.upsert(key("b"), entry(b.uid(), &b.version().to_string()));
        writer.commit(batch);
        let found = |reader| compare(&server, &nodes, reader).expect("nodes are registered");
        assert!(found(&reader).is_empty());
        writer.upsert(key("c"), entry("u", "9"));
        assert_eq!(found(&reader).len(), 1);
        writer.remove(&key("b"));
        assert_eq!(found(&reader).len(), 1, "as many, but others");
        writer.remove(&key("c"));
        writer.upsert(key("b"), entry(b.uid(), "1"));
        assert_eq!(found(&reader).len(), 1, "outdated");
        writer.upsert(key("b"), entry("another", &b.version().to_string()));
        assert_eq!(found(&reader).len(), 1, "another of that name");
    }
}
