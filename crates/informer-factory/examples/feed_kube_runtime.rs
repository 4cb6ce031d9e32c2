//! Feeds kube-runtime's controller from a shared informer, without a second copy of the objects.
//!
//! `cargo run -p informer-factory --example feed_kube_runtime`
//!
//! kube-runtime's `Store` can be filled through a `Writer` only, which clones what it is given.
//! Given a `Shared<K>`, which is an `Arc` that is a resource, it clones the `Arc`: both caches hold
//! the same objects. Uses stable API only. Runs over an API server in memory. With a cluster
//! instead, and the feature `rustls-tls`:
//! `let client = informer_factory::client(kube_client::Config::infer().await?)?;`

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use informer_factory::{
    Added, Client, Deleted, Grace, Handler, ObjectKey, SharedInformer, SharedInformerFactory,
    Updated,
};
use informer_testkit::{ApiServer, Resource as Served};
use k8s_openapi::api::core::v1::Pod;
use kube_core::{ObjectMeta, Resource, ResourceExt};
use kube_runtime::controller::{Action, Config, applier};
use kube_runtime::reflector::{ObjectRef, Store, store, store::Writer};
use kube_runtime::watcher::Event;
use serde_json::json;
use tokio::sync::mpsc;

/// An object of the informer's cache, as a resource of its own.
struct Shared<K>(Arc<K>);

impl<K> Clone for Shared<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Resource + Clone> Resource for Shared<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(of: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(of)
    }

    fn group(of: &Self::DynamicType) -> Cow<'_, str> {
        K::group(of)
    }

    fn version(of: &Self::DynamicType) -> Cow<'_, str> {
        K::version(of)
    }

    fn plural(of: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(of)
    }

    fn meta(&self) -> &ObjectMeta {
        self.0.meta()
    }

    /// Copies first if the informer holds the object too, so its cache is safe.
    fn meta_mut(&mut self) -> &mut ObjectMeta {
        Arc::make_mut(&mut self.0).meta_mut()
    }
}

/// Writes notifications into a kube-runtime store and asks for a reconciliation of each.
struct Bridge {
    writer: Writer<Shared<Pod>>,
    /// Unbounded here, since the objects wait in the informer's cache and a request is small; with
    /// `Overflow::Coalesce` for the handler there is at most one per key on its way.
    requests: mpsc::UnboundedSender<ObjectRef<Shared<Pod>>>,
}

impl Bridge {
    /// The store counts as ready from the start. Whoever runs the reconciler waits for the handler
    /// to be synced, which says that all of the first list is in the store.
    fn new(
        mut writer: Writer<Shared<Pod>>,
        requests: mpsc::UnboundedSender<ObjectRef<Shared<Pod>>>,
    ) -> Self {
        writer.apply_watcher_event(&Event::Init);
        writer.apply_watcher_event(&Event::InitDone);
        Self { writer, requests }
    }

    fn apply(&mut self, object: &Arc<Pod>) {
        let object = Shared(Arc::clone(object));
        let request = ObjectRef::from_obj(&object);
        // The store first: the reconciler looks there.
        self.writer.apply_watcher_event(&Event::Apply(object));
        // Fails if the reconciler has ended, and then nobody needs it.
        drop(self.requests.send(request));
    }
}

impl Handler<ObjectKey, Pod> for Bridge {
    fn on_add(&mut self, added: &Added<ObjectKey, Pod>) {
        self.apply(&added.object);
    }

    fn on_update(&mut self, updated: &Updated<ObjectKey, Pod>) {
        self.apply(&updated.new);
    }

    /// A reconciliation of a deleted pod would find nothing; its owners would be added here.
    fn on_delete(&mut self, deleted: &Deleted<ObjectKey, Pod>) {
        if let Some(last) = deleted.last() {
            let event = Event::Delete(Shared(Arc::clone(last)));
            self.writer.apply_watcher_event(&event);
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let server = ApiServer::new();
    for name in ["a", "b", "c"] {
        let pod = json!({"metadata": {"name": name}, "spec": {"containers": []}});
        server.create(&Served::pods(), pod)?;
    }
    let factory = SharedInformerFactory::new(Client::new(server.service(), "default"));
    let pods = factory.informer::<Pod>();
    let (reader, writer) = store::<Shared<Pod>>();
    let (requests, mut asked) = mpsc::unbounded_channel();
    let handler = pods.add_handler(Bridge::new(writer, requests))?;
    factory.start()?;
    handler.wait_synced(Duration::from_secs(30)).await?;

    let (done, mut reconciled) = mpsc::unbounded_channel();
    let reconcile = move |pod: Arc<Shared<Pod>>, _: Arc<()>| {
        // Fails if nobody listens any more.
        drop(done.send((pod.name_any(), pod.resource_version())));
        futures::future::ready(Ok::<_, Infallible>(Action::await_change()))
    };
    let queue = futures::stream::poll_fn(move |cx| asked.poll_recv(cx)).map(Ok::<_, Infallible>);
    let never = |_: Arc<Shared<Pod>>, error: &Infallible, _: Arc<()>| match *error {};
    let running = applier(
        reconcile,
        never,
        Arc::new(()),
        reader.clone(),
        queue,
        Config::default(),
    );
    let running = tokio::spawn(running.for_each(|_| futures::future::ready(())));
    for _ in 0..3 {
        let (name, version) = next(&mut reconciled).await?;
        println!("kube-runtime reconciled {name} at version {version:?}");
    }

    let changed = server.patch(
        &Served::pods(),
        "default",
        "a",
        json!({"metadata": {"labels": {"app": "web"}}}),
    )?;
    let (name, version) = next(&mut reconciled).await?;
    println!("and again {name} at version {version:?}");
    anyhow::ensure!(
        version == Some(changed.version().to_string()),
        "not what was written"
    );

    compare(&pods, &reader)?;

    server.delete(&Served::pods(), "default", "b")?;
    let now = server.version().into();
    pods.wait_for_version(&now, Duration::from_secs(30)).await?;
    // The handlers get what is pending, then the bridge is dropped and the queue ends.
    factory.shutdown(Grace::default()).await?;
    running.await?;
    println!("{} objects are left", reader.len());
    anyhow::ensure!(reader.len() == 2, "the deletion did not arrive");
    Ok(())
}

/// Both caches hold the very same objects.
fn compare(pods: &SharedInformer<Pod>, reader: &Store<Shared<Pod>>) -> anyhow::Result<()> {
    let theirs = reader.state();
    let same = theirs.iter().filter(|theirs| {
        let ours = pods.reader().get(format!("default/{}", theirs.name_any()));
        ours.is_some_and(|ours| Arc::ptr_eq(&ours, &theirs.0))
    });
    let (same, all) = (same.count(), theirs.len());
    println!("{same} of {all} objects are one and the same in both caches");
    anyhow::ensure!((same, all) == (3, 3), "an object was copied");
    Ok(())
}

async fn next(
    reconciled: &mut mpsc::UnboundedReceiver<(String, Option<String>)>,
) -> anyhow::Result<(String, Option<String>)> {
    let next = tokio::time::timeout(Duration::from_secs(10), reconciled.recv()).await?;
    next.ok_or_else(|| anyhow::anyhow!("the reconciler ended"))
}
