//! What a user would write: a factory, two informers, two indexes, four handlers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use informer_factory::{
    Index, InformerOptions, QueueKind, SharedInformer, SharedInformerFactory, Transform, index,
};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube_client::Config;

use super::cluster::Cluster;
use super::handlers::Watched;
use super::object::{DemoPod, PackedPod};
use crate::failure::Failure;

/// The informers of the demo and everybody who listens to them. `P` is the form of the pods.
pub(super) struct Informers<P: DemoPod> {
    pub(super) factory: SharedInformerFactory,
    pub(super) pods: SharedInformer<P>,
    pub(super) nodes: SharedInformer<Node>,
    pub(super) by_node: Index<P>,
    pub(super) by_app: Index<P>,
    pub(super) pod_handlers: [Watched<P>; 3],
    pub(super) node_handlers: [Watched<Node>; 1],
    /// The number of pods that were decoded, if it is counted.
    decoded: Option<Arc<AtomicU64>>,
}

/// Makes the factory of the demo, for the server at this address.
pub(super) fn factory(url: &str, queue: QueueKind) -> Result<SharedInformerFactory, Failure> {
    let url = url.parse().expect("the server tells a URL");
    let client = informer_factory::client(Config::new(url)).map_err(|e| failed(&e))?;
    let factory = SharedInformerFactory::builder(client).queue(queue).build();
    factory.map_err(|e| failed(&e))
}

impl Informers<Pod> {
    /// Sets everything up, with typed pods; nothing is started.
    pub(super) fn typed(
        factory: SharedInformerFactory,
        cluster: &Arc<Cluster>,
    ) -> Result<Self, Failure> {
        // Only counts, for the progress bar: a transform sees every object once.
        let decoded = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&decoded);
        let count = Transform::new(move |pod| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(pod)
        });
        let options = InformerOptions::new().transform(count);
        let pods = factory.informer_with(options).map_err(|e| failed(&e))?;
        Self::new(factory, pods, Some(decoded), cluster)
    }
}

impl Informers<PackedPod> {
    /// Sets everything up, with packed pods; nothing is started.
    pub(super) fn packed(
        factory: SharedInformerFactory,
        cluster: &Arc<Cluster>,
    ) -> Result<Self, Failure> {
        let pods = factory.packed_with(InformerOptions::new());
        let pods = pods.map_err(|e| failed(&e))?;
        Self::new(factory, pods, None, cluster)
    }
}

impl<P: DemoPod> Informers<P> {
    fn new(
        factory: SharedInformerFactory,
        pods: SharedInformer<P>,
        decoded: Option<Arc<AtomicU64>>,
        cluster: &Arc<Cluster>,
    ) -> Result<Self, Failure> {
        let nodes = factory.informer::<Node>();
        let by_node = pods
            .add_index("node", index::node)
            .map_err(|e| failed(&e))?;
        let by_app = pods
            .add_index("app", index::label("app"))
            .map_err(|e| failed(&e))?;
        Ok(Self {
            pod_handlers: [
                Watched::fast("fast", &pods, cluster)?,
                Watched::slow("slow", &pods, cluster)?,
                Watched::stream("stream", &pods, cluster)?,
            ],
            node_handlers: [Watched::fast("nodes", &nodes, cluster)?],
            factory,
            pods,
            nodes,
            by_node,
            by_app,
            decoded,
        })
    }

    /// How many pods were decoded so far; of packed pods, how many the cache holds.
    pub(super) fn arrived(&self) -> u64 {
        match &self.decoded {
            Some(decoded) => decoded.load(Ordering::Relaxed),
            None => self.pods.reader().len() as u64,
        }
    }

    /// Whether every handler has handled everything handed over.
    pub(super) fn are_drained(&self) -> bool {
        self.pod_handlers.iter().all(Watched::is_drained)
            && self.node_handlers.iter().all(Watched::is_drained)
    }
}

fn failed(error: &dyn std::error::Error) -> Failure {
    Failure::failed(error.to_string())
}
