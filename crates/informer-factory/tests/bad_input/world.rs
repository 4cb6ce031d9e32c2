//! A server, an informer that lists before it watches, and what a handler was told.

use std::time::Duration;

use informer_factory::{InformerOptions, QueueKind, SharedInformerFactory, reflector::Config};
use informer_testkit::{ApiServer, RequestRecord, Verb};
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;

use crate::cluster::{self, Pods, Recorder, SOON, pods};

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// A reflector that lists plainly: a fault of a list and one of a watch can then be told apart.
pub(crate) fn plain() -> Config {
    let mut config = Config::default();
    config.streaming = false;
    config
}

pub(crate) struct World {
    pub(crate) server: ApiServer,
    pub(crate) factory: SharedInformerFactory,
    pub(crate) informer: Pods,
    pub(crate) told: Recorder,
}

impl World {
    /// Objects on a server, and an informer that has not been started.
    pub(crate) fn new(queue: QueueKind, names: &[&str]) -> Self {
        let server = ApiServer::new();
        for name in names {
            server
                .create(&pods(), cluster::pod(name, "n1"))
                .expect("created");
        }
        Self::over(server, queue, plain())
    }

    pub(crate) fn over(server: ApiServer, queue: QueueKind, reflector: Config) -> Self {
        let factory = cluster::factory(&server, queue);
        let options = InformerOptions::new().reflector(reflector);
        let informer = factory
            .informer_with::<Pod>(options)
            .expect("a fresh factory");
        let told = Recorder::default();
        informer.add_handler(told.clone()).expect("running");
        Self {
            server,
            factory,
            informer,
            told,
        }
    }

    /// As `new`, started and synced; the initial adds have been taken.
    pub(crate) async fn synced(queue: QueueKind, names: &[&str]) -> Self {
        let world = Self::new(queue, names);
        world.start().await;
        world.told.wait(names.len()).await;
        world
    }

    pub(crate) async fn start(&self) {
        self.factory.start().expect("a runtime");
        self.factory.wait_synced(SOON).await.expect("synced");
        self.watches_after(0).await;
    }

    /// Closes the watch, so that the next one meets what is scripted by then; waits for that one.
    pub(crate) async fn watch_again(&self) {
        let before = self.requests(Verb::Watch).len();
        self.server.close_watches();
        self.watches_after(before).await;
    }

    /// Waits until a watch is open that was asked for after so many others.
    pub(crate) async fn watches_after(&self, before: usize) {
        let opened = async {
            while self.requests(Verb::Watch).len() <= before
                || self.server.open_watches(&pods()) == 0
            {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        if tokio::time::timeout(SOON, opened).await.is_err() {
            panic!("no new watch: {:#?}", self.server.requests());
        }
    }

    /// Closes the watch and forgets the history, so that a list has to come.
    pub(crate) fn gap(&self) {
        self.server.skip_versions(3);
        self.server.compact_and_forget();
        self.server.close_watches();
    }

    pub(crate) fn create(&self, name: &str) -> u64 {
        self.server
            .create(&pods(), cluster::pod(name, "n1"))
            .expect("created")
            .version()
    }

    /// Changes an object, and answers its new version.
    pub(crate) fn change(&self, name: &str) -> u64 {
        let node = format!("n{}", self.server.version());
        let patch = json!({"spec": {"nodeName": node}});
        self.server
            .patch(&pods(), "default", name, patch)
            .expect("patched")
            .version()
    }

    pub(crate) fn delete(&self, name: &str) {
        self.server
            .delete(&pods(), "default", name)
            .expect("deleted");
    }

    /// The keys in quarantine.
    pub(crate) fn quarantined(&self) -> Vec<String> {
        self.informer
            .quarantined()
            .iter()
            .map(|q| q.key.to_string())
            .collect()
    }

    /// The names in the store, with versions.
    pub(crate) fn stored(&self) -> Vec<String> {
        let snapshot = self.informer.reader().snapshot();
        snapshot
            .iter()
            .map(|(key, entry)| format!("{}@{}", key.name(), entry.version))
            .collect()
    }

    pub(crate) fn requests(&self, verb: Verb) -> Vec<RequestRecord> {
        let mut requests = self.server.requests();
        requests.retain(|request| request.line.verb == verb);
        requests
    }

    /// Waits for the informer to tell of a failure, for two minutes at most.
    pub(crate) async fn until_failing(&self) {
        for _ in 0..120 {
            if self.informer.status().sources[0].failure.is_some() {
                return;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// Waits until the store shows what the server holds, key by key (RFX-10).
    pub(crate) async fn converges(&self) {
        let version = self.create("last").to_string();
        let reached = self.informer.wait_for_version(&version.into(), SOON).await;
        if let Err(error) = reached {
            panic!(
                "{error}\n{:#?}\n{:#?}",
                self.informer.status(),
                self.server.requests()
            );
        }
        cluster::assert_store_matches_pods(&self.server, &self.informer);
    }
}
