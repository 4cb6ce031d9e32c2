//! An operator for two kinds: a ConfigMap labelled `fleet` says how many pods there are to be.
//!
//! `cargo run -p informer-factory --example controller`
//!
//! Everything between the two lines is what an operator is made of: two informers, an index by
//! owner, a work queue in which a key waits once, and a reconcile function that may fail and is
//! called again. Runs over an API server in memory. With a cluster instead, and the feature
//! `rustls-tls`:
//! `let client = informer_factory::client(kube_client::Config::infer().await?)?;`

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer_factory::{
    Client, Grace, Index, InformerOptions, Lister, Notification, ObjectKey, SharedInformer,
    SharedInformerFactory, handler_fn, index,
};
use informer_testkit::{ApiServer, Fault, Match, Resource, Times, Verb};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube_client::api::{Api, DeleteParams, PostParams};
use kube_client::{Error, ResourceExt};
use serde_json::json;

// ------------------------------------------------------------------------------------------------

/// Keys in the order in which they first waited, each once, however often it is added.
#[derive(Default)]
struct WorkQueue {
    waiting: Mutex<(VecDeque<ObjectKey>, BTreeSet<ObjectKey>)>,
    added: tokio::sync::Notify,
}

impl WorkQueue {
    fn add(&self, key: ObjectKey) {
        let mut waiting = self.waiting.lock().expect("nobody panics under this lock");
        if waiting.1.insert(key.clone()) {
            waiting.0.push_back(key);
            self.added.notify_one();
        }
    }

    /// Forgets the key, so that a change from now on lets it wait again.
    fn take(&self) -> Option<ObjectKey> {
        let mut waiting = self.waiting.lock().expect("as above");
        let key = waiting.0.pop_front()?;
        waiting.1.remove(&key);
        Some(key)
    }

    async fn next(&self) -> ObjectKey {
        loop {
            let added = self.added.notified();
            if let Some(key) = self.take() {
                return key;
            }
            added.await;
        }
    }
}

struct Operator {
    client: Client,
    queue: Arc<WorkQueue>,
    fleets: Lister<ConfigMap>,
    pods_by_owner: Index<Pod>,
}

impl Operator {
    /// One worker; what fails waits a moment and comes again.
    async fn run(self) {
        loop {
            let key = self.queue.next().await;
            if let Err(error) = self.reconcile(&key).await {
                println!("  {key} failed and comes again: {error}");
                let queue = Arc::clone(&self.queue);
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    queue.add(key);
                });
            }
        }
    }

    /// Makes what is into what is wanted. Looks only at the caches, and may be called at any time.
    async fn reconcile(&self, key: &ObjectKey) -> anyhow::Result<()> {
        let namespace = key.namespace().unwrap_or_default();
        let Some(fleet) = self.fleets.namespace(namespace).get(key.name()) else {
            return Ok(()); // Its pods go with it: the cluster's garbage collector follows owners.
        };
        let wanted = fleet
            .data
            .as_ref()
            .and_then(|data| data.get("pods")?.parse().ok());
        let wanted: BTreeSet<String> = (0..wanted.unwrap_or(0))
            .map(|n: u32| format!("{}-{n}", key.name()))
            .collect();
        let owned = self.pods_by_owner.get(&fleet.uid().unwrap_or_default());
        let present: BTreeSet<String> = owned.iter().map(|pod| pod.name_any()).collect();
        let api: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
        for name in wanted.difference(&present) {
            match api
                .create(&PostParams::default(), &pod_of(&fleet, name)?)
                .await
            {
                Ok(_) => println!("  created {name}"),
                // We made it a moment ago, and the cache is about to show it.
                Err(Error::Api(status)) if status.is_already_exists() => {}
                Err(Error::Api(status)) => anyhow::bail!("{}", status.message),
                Err(error) => return Err(error.into()),
            }
        }
        for name in present.difference(&wanted) {
            api.delete(name, &DeleteParams::default()).await?;
            println!("  deleted {name}");
        }
        Ok(())
    }
}

fn pod_of(fleet: &ConfigMap, name: &str) -> anyhow::Result<Pod> {
    Ok(serde_json::from_value(json!({
        "metadata": {"name": name, "ownerReferences": [{
            "apiVersion": "v1", "kind": "ConfigMap", "controller": true,
            "name": fleet.name_any(), "uid": fleet.uid(),
        }]},
        "spec": {"containers": [{"name": "main", "image": "web:1"}]},
    }))?)
}

/// The fleet a pod belongs to, before or after the change.
fn owner_of(news: &Notification<ObjectKey, Pod>) -> Option<ObjectKey> {
    let pod = news.last()?;
    let owners = pod.metadata.owner_references.iter().flatten();
    let owner = owners
        .into_iter()
        .find(|owner| owner.controller == Some(true))?;
    ObjectKey::new(pod.metadata.namespace.as_deref(), &owner.name).ok()
}

async fn operate(
    client: Client,
) -> anyhow::Result<(SharedInformerFactory, SharedInformer<Pod>, Index<Pod>)> {
    let factory = SharedInformerFactory::new(client.clone());
    let fleets = factory.informer_with::<ConfigMap>(InformerOptions::new().labels("fleet"))?;
    let pods = factory.informer::<Pod>();
    let pods_by_owner = pods.add_index("owner", index::owner_uid)?;
    let queue = Arc::new(WorkQueue::default());
    let to = Arc::clone(&queue);
    fleets.add_handler(handler_fn(
        move |news: &Notification<ObjectKey, ConfigMap>| to.add(news.key().clone()),
    ))?;
    let to = Arc::clone(&queue);
    pods.add_handler(handler_fn(move |news| {
        owner_of(news).into_iter().for_each(|key| to.add(key));
    }))?;
    factory.start()?;
    // Before the first look at the caches, or everything would seem to be missing.
    factory.wait_synced(Duration::from_secs(30)).await?;
    let (fleets, by_owner) = (fleets.lister(), pods_by_owner.clone());
    tokio::spawn(
        Operator {
            client,
            queue,
            fleets,
            pods_by_owner,
        }
        .run(),
    );
    Ok((factory, pods, by_owner))
}

// ------------------------------------------------------------------------------------------------

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let server = ApiServer::new();
    let (factory, pods, by_owner) = operate(Client::new(server.service(), "default")).await?;
    // The first attempt to create a pod fails.
    let out = Fault::status(503, "ServiceUnavailable", "etcd has no leader");
    server.fault(Match::verb(Verb::Create), out, Times::Once);

    let fleets = Resource::config_maps();
    let fleet =
        json!({"metadata": {"name": "web", "labels": {"fleet": ""}}, "data": {"pods": "3"}});
    println!("a fleet of 3 is wanted");
    let fleet = server.create(&fleets, fleet)?;
    reach(&by_owner, fleet.uid(), &["web-0", "web-1", "web-2"]).await?;

    println!("somebody deletes web-1");
    server.delete(&Resource::pods(), "default", "web-1")?;
    let now = server.version().into();
    pods.wait_for_version(&now, Duration::from_secs(10)).await?;
    reach(&by_owner, fleet.uid(), &["web-0", "web-1", "web-2"]).await?;

    println!("a fleet of 1 is wanted");
    server.patch(&fleets, "default", "web", json!({"data": {"pods": "1"}}))?;
    reach(&by_owner, fleet.uid(), &["web-0"]).await?;
    factory.shutdown(Grace::default()).await?;
    println!("done");
    Ok(())
}

/// Waits until the cache shows these pods of an owner, and no others.
async fn reach(by_owner: &Index<Pod>, uid: &str, names: &[&str]) -> anyhow::Result<()> {
    for _ in 0..1_000 {
        let present: BTreeSet<String> =
            by_owner.get(uid).iter().map(|pod| pod.name_any()).collect();
        if present.iter().eq(names) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    anyhow::bail!("{names:?} were not reached")
}
