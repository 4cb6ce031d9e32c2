//! A handler that keeps a cache of its own, as a scheduler does: the cpu asked for on each node.
//!
//! `cargo run -p informer-factory --example second_cache`
//!
//! Such a cache has to subtract exactly what it added. So it remembers that by key, instead of
//! trusting the object it is told to be gone: the final state of a watched deletion may differ from
//! the last update, and of a deletion nobody watched only an older state is known. Runs over an API
//! server in memory. With a cluster instead, and the feature `rustls-tls`:
//! `let client = informer_factory::client(kube_client::Config::infer().await?)?;`

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use informer_factory::{
    Client, Deleted, Grace, Handler, Notification, ObjectKey, SharedInformer, SharedInformerFactory,
};
use informer_testkit::{ApiServer, Resource};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(30);

/// Thousandths of a cpu asked for, by node.
type Requested = BTreeMap<String, u64>;

/// The cache's writing half. Readers share `requested`.
#[derive(Default)]
struct NodeCache {
    requested: Arc<RwLock<Requested>>,
    added: HashMap<ObjectKey, (String, u64)>,
}

impl NodeCache {
    /// Takes back what a key added, and adds what it is now.
    fn put(&mut self, key: &ObjectKey, pod: Option<&Arc<Pod>>) {
        let now = pod.and_then(|pod| contribution(pod));
        let before = match &now {
            Some(now) => self.added.insert(key.clone(), now.clone()),
            None => self.added.remove(key),
        };
        let mut requested = self
            .requested
            .write()
            .expect("nobody panics under this lock");
        if let Some((node, cpu)) = before {
            let sum = requested.get_mut(&node).expect("it was added");
            *sum -= cpu;
            if *sum == 0 {
                requested.remove(&node);
            }
        }
        if let Some((node, cpu)) = now {
            *requested.entry(node).or_default() += cpu;
        }
    }
}

impl Handler<ObjectKey, Pod> for NodeCache {
    fn on_notification(&mut self, news: &Notification<ObjectKey, Pod>) {
        if let Notification::Deleted(Deleted::Unknown { key, .. }) = news {
            println!("  {key} was deleted while the watch was down");
        }
        self.put(news.key(), news.object());
    }
}

/// Node and requested cpu of a pod that runs somewhere and asks for some.
fn contribution(pod: &Pod) -> Option<(String, u64)> {
    let spec = pod.spec.as_ref()?;
    let requests = |container: &k8s_openapi::api::core::v1::Container| {
        let cpu = container
            .resources
            .as_ref()?
            .requests
            .as_ref()?
            .get("cpu")?
            .0
            .as_str();
        match cpu.strip_suffix('m') {
            Some(milli) => milli.parse().ok(),
            None => cpu.parse().ok().map(|cpus: u64| cpus * 1_000),
        }
    };
    let sum: u64 = spec.containers.iter().filter_map(requests).sum();
    (sum > 0).then(|| Some((spec.node_name.clone()?, sum)))?
}

/// The same sums, from the informer's own cache.
fn from_scratch(pods: &SharedInformer<Pod>) -> Requested {
    let mut sums = Requested::new();
    for (node, cpu) in pods
        .lister()
        .all()
        .iter()
        .filter_map(|pod| contribution(pod))
    {
        *sums.entry(node).or_default() += cpu;
    }
    sums
}

fn pod(name: &str, node: &str, cpu: &str) -> Value {
    let resources = json!({"requests": {"cpu": cpu}});
    let container = json!({"name": "main", "image": "web:1", "resources": resources});
    json!({"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [container]}})
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let (server, pods) = (ApiServer::new(), Resource::pods());
    for (name, node, cpu) in [("a", "n1", "500m"), ("b", "n1", "2"), ("c", "n2", "250m")] {
        server.create(&pods, pod(name, node, cpu))?;
    }
    let factory = SharedInformerFactory::new(Client::new(server.service(), "default"));
    let informer = factory.informer::<Pod>();
    let cache = NodeCache::default();
    let requested = Arc::clone(&cache.requested);
    let handler = informer.add_handler(cache)?;
    factory.start()?;
    // The informer being synced is not enough: the handler has to have seen it all.
    handler.wait_synced(PATIENCE).await?;
    let check = async |what: &str| {
        let now = server.version().into();
        handler.wait_for_version(&now, PATIENCE).await?;
        let sums = requested.read().expect("as above").clone();
        println!("{what}: {sums:?}");
        anyhow::ensure!(sums == from_scratch(&informer), "the two caches differ");
        Ok(())
    };
    check("at the start").await?;

    server.patch(&pods, "default", "a", json!({"spec": {"nodeName": "n2"}}))?;
    server.replace(&pods, pod("c", "n2", "1"))?;
    check("a moved, c asks for more").await?;

    server.delete(&pods, "default", "a")?;
    check("a was deleted").await?;

    // The watch breaks, and what happens meanwhile is forgotten by the server.
    server.delete(&pods, "default", "b")?;
    server.create(&pods, pod("d", "n3", "100m"))?;
    server.compact_and_forget();
    check("b went in a gap").await?;
    factory.shutdown(Grace::default()).await?;
    Ok(())
}
