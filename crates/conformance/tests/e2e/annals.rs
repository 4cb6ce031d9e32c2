//! Writes the history of one resource: every acknowledged write, and whatever a plain watch says.
//!
//! Neither is enough alone. The answer to a deletion does not tell its version, and a watch misses
//! what happens between its server's death and its next list.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use kube_client::api::{ListParams, VersionMatch, WatchParams};
use kube_client::{Api, Client, Error};
use kube_core::discovery::ApiResource;
use kube_core::{DynamicObject, ObjectMeta, Resource, WatchEvent};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::history::{History, View};
use crate::told::{Identity, Objects};
use crate::watched::Scope;

/// Between two attempts at a server that is gone.
const RETRY: Duration = Duration::from_millis(100);
/// For how long the server is asked to keep a watch open.
const WATCH_SECONDS: u32 = 280;

/// The history of one resource while it is being written.
pub(crate) struct Annals {
    client: Client,
    pub(crate) resource: ApiResource,
    history: Mutex<History>,
    /// Up to which version the watch has told everything.
    complete_to: watch::Sender<u64>,
    task: Mutex<JoinSet<()>>,
}

impl Annals {
    pub(crate) async fn begin(client: Client, resource: ApiResource) -> Arc<Self> {
        let annals = Arc::new(Self {
            client,
            resource,
            history: Mutex::default(),
            complete_to: watch::Sender::new(0),
            task: Mutex::default(),
        });
        // A definition takes its time to be served.
        let from = loop {
            match annals.list().await {
                Ok(from) => break from,
                Err(_) => tokio::time::sleep(RETRY).await,
            }
        };
        let weak = Arc::downgrade(&annals);
        let keep = async move {
            let mut from = from;
            while let Some(annals) = weak.upgrade() {
                from = annals.follow(from).await;
            }
        };
        annals
            .task
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .spawn(keep);
        annals
    }

    /// A write was acknowledged with this state.
    pub(crate) fn was(&self, meta: &ObjectMeta) {
        self.with(|history| history.was(meta));
    }

    pub(crate) fn view(&self, scope: &Scope) -> View {
        self.with(|history| history.view(scope))
    }

    pub(crate) fn changes_after(&self, version: u64) -> usize {
        self.with(|history| history.changes_after(version))
    }

    /// Waits until the plain watch has told of everything up to a version.
    pub(crate) async fn complete_to(&self, version: u64) {
        let mut complete_to = self.complete_to.subscribe();
        let reached = complete_to
            .wait_for(|complete_to| *complete_to >= version)
            .await;
        reached.expect("the sender is ours");
    }

    /// The server's LIST at exactly this version.
    pub(crate) async fn list_at(&self, scope: &Scope, version: u64) -> Objects {
        let resource = &self.resource;
        let api: Api<DynamicObject> = match &scope.namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, resource),
            None => Api::all_with(self.client.clone(), resource),
        };
        let version = version.to_string();
        let mut params = ListParams::default()
            .at(&version)
            .matching(VersionMatch::Exact);
        params.label_selector = scope.selector();
        let listed = api.list_metadata(&params).await;
        let listed = listed.unwrap_or_else(|error| panic!("LIST at {version} failed: {error}"));
        assert_eq!(listed.metadata.resource_version.as_deref(), Some(&*version));
        let objects = listed.items.iter();
        objects
            .map(|object| (key_of(object.meta()), Identity::of(object)))
            .collect()
    }

    /// Watches from a version on until the watch ends; answers with where to go on.
    async fn follow(&self, from: u64) -> u64 {
        let params = WatchParams::default().timeout(WATCH_SECONDS);
        let mut reached = from;
        let stream = self.all().watch_metadata(&params, &from.to_string()).await;
        let mut expired = matches!(&stream, Err(Error::Api(status)) if status.code == 410);
        if let Ok(stream) = stream {
            let mut stream = Box::pin(stream);
            while let Some(Ok(event)) = stream.next().await {
                match event {
                    WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                        reached = self.seen(object.meta(), false);
                    }
                    WatchEvent::Deleted(object) => reached = self.seen(object.meta(), true),
                    WatchEvent::Bookmark(_) => {}
                    WatchEvent::Error(status) => expired = status.code == 410,
                }
            }
        }
        if expired && let Ok(listed) = self.list().await {
            return listed;
        }
        tokio::time::sleep(RETRY).await;
        reached
    }

    fn seen(&self, meta: &ObjectMeta, ended: bool) -> u64 {
        self.with(|history| match ended {
            true => history.ended(meta),
            false => history.was(meta),
        });
        let version = Identity::of_meta(meta).version;
        self.complete_to.send_replace(version);
        version
    }

    async fn list(&self) -> Result<u64, Error> {
        let listed = self.all().list_metadata(&ListParams::default()).await?;
        self.with(|history| {
            listed
                .items
                .iter()
                .for_each(|object| history.was(object.meta()));
        });
        let version = listed.metadata.resource_version.unwrap_or_default();
        let version = version.parse().expect("this server's versions are numbers");
        self.complete_to.send_replace(version);
        Ok(version)
    }

    fn all(&self) -> Api<DynamicObject> {
        Api::all_with(self.client.clone(), &self.resource)
    }

    fn with<R>(&self, look: impl FnOnce(&mut History) -> R) -> R {
        look(&mut self.history.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// As both sides call an object.
pub(crate) fn key_of(meta: &ObjectMeta) -> String {
    let namespace = meta.namespace.as_deref().unwrap_or_default();
    format!("{namespace}/{}", meta.name.as_deref().unwrap_or_default())
}
