//! A reflector that follows pods through a client.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_reflector::{Change, Config, Emission, Reflector, Refused, ResourceVersion, Sink};
use informer_testkit::{ApiServer, Resource};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Client;
use serde_json::json;
use tokio::{sync::watch, task::JoinHandle, time::timeout};

use super::judge;
use crate::KubeListWatch;

/// The bound of every wait; a passing test never reaches it.
pub(crate) const SOON: Duration = Duration::from_secs(120);

/// Creates a pod on the server. Returns its version.
pub(crate) fn create(server: &ApiServer, name: &str) -> ResourceVersion {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "default", "name": name},
    });
    let created = server.create(&Resource::pods(), pod).expect("created");
    created.version().to_string().into()
}

/// A running reflector and the names and the version that its sink received.
pub(crate) struct Followed {
    received: watch::Receiver<Option<ResourceVersion>>,
    names: Names,
    task: JoinHandle<()>,
}

type Names = Arc<Mutex<BTreeSet<String>>>;

impl Followed {
    /// Starts a reflector of all pods, and waits for its first list.
    pub(crate) async fn start(client: Client, config: Config) -> Self {
        let (sender, received) = watch::channel(None);
        let names = Names::default();
        let sink = Collected {
            received: sender,
            names: Arc::clone(&names),
        };
        let source = Arc::new(KubeListWatch::<Pod>::new(client, judge::pods()));
        let reflector = Reflector::new(source, sink, Arc::new(()), (), config, 1);
        let task = tokio::spawn(async move {
            reflector.run(std::future::pending()).await;
        });
        let followed = Self {
            received,
            names,
            task,
        };
        followed.wait(|_| true).await;
        followed
    }

    /// Waits until the sink received this version.
    pub(crate) async fn reach(&self, version: &ResourceVersion) {
        self.wait(|received| !received.is_older_than(version)).await;
    }

    /// The number of pods that the sink holds.
    pub(crate) fn count(&self) -> usize {
        self.names.lock().expect("whole").len()
    }

    async fn wait(&self, mut enough: impl FnMut(&ResourceVersion) -> bool) {
        let mut received = self.received.clone();
        let reached = received.wait_for(|version| version.as_ref().is_some_and(&mut enough));
        let reached = timeout(SOON, reached).await.expect("received in time");
        reached.expect("the reflector runs");
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Collected {
    received: watch::Sender<Option<ResourceVersion>>,
    names: Names,
}

impl Sink<Pod> for Collected {
    async fn accept(&mut self, emission: Emission<Pod>) -> Result<(), Refused> {
        let received = emission.received().clone();
        let mut names = self.names.lock().expect("whole");
        match emission {
            Emission::Replace { items, .. } => {
                *names = items
                    .iter()
                    .map(|item| item.identity.key.name().to_owned())
                    .collect();
            }
            Emission::Change { change, item, .. } => {
                let name = item.identity.key.name().to_owned();
                match change {
                    Change::Deleted => names.remove(&name),
                    Change::Added | Change::Modified => names.insert(name),
                };
            }
            Emission::Bookmark { .. } => {}
        }
        drop(names);
        self.received.send_replace(Some(received));
        Ok(())
    }
}
