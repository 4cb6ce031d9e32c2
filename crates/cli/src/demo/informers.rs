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
use crate::failure::Failure;

/// The informers of the demo and everybody who listens to them.
pub(super) struct Informers {
    pub(super) factory: SharedInformerFactory,
    pub(super) pods: SharedInformer<Pod>,
    pub(super) nodes: SharedInformer<Node>,
    pub(super) by_node: Index<Pod>,
    pub(super) by_app: Index<Pod>,
    pub(super) pod_handlers: [Watched<Pod>; 3],
    pub(super) node_handlers: [Watched<Node>; 1],
    decoded: Arc<AtomicU64>,
}

impl Informers {
    /// Sets everything up; nothing is started.
    pub(super) fn new(
        url: &str,
        queue: QueueKind,
        cluster: &Arc<Cluster>,
    ) -> Result<Self, Failure> {
        let failed = |e: &dyn std::error::Error| Failure::failed(e.to_string());
        let url = url.parse().expect("the server tells a URL");
        let client = informer_factory::client(Config::new(url)).map_err(|e| failed(&e))?;
        let factory = SharedInformerFactory::builder(client).queue(queue).build();
        let factory = factory.map_err(|e| failed(&e))?;

        // Only counts, for the progress bar: a transform sees every object once.
        let decoded = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&decoded);
        let count = Transform::new(move |pod| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(pod)
        });
        let options = InformerOptions::new().transform(count);
        let pods = factory
            .informer_with::<Pod>(options)
            .map_err(|e| failed(&e))?;
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

    /// How many pods were decoded so far.
    pub(super) fn decoded(&self) -> u64 {
        self.decoded.load(Ordering::Relaxed)
    }

    /// Whether every handler has handled everything handed over.
    pub(super) fn are_drained(&self) -> bool {
        self.pod_handlers.iter().all(Watched::is_drained)
            && self.node_handlers.iter().all(Watched::is_drained)
    }
}
