//! A `ChangeConsumer` beside the informer, in some runs. One that processes slowly holds up its
//! queue, so that relists meet changes that wait or are being processed (FM-48).
//!
//! It follows the one namespace that no watch of the informer is about, so that the log of requests
//! can tell whose is whose.

use std::{convert::Infallible, sync::Arc, time::Duration};

use futures::{FutureExt, channel::oneshot};
use informer_factory::{
    ChangeConsumer, ChangeConsumerConfig, ChangeConsumerHandle, ChangeConsumerReport, Event,
    WireFormat,
    kube_source::{KubeListWatch, KubeSource, SerdeDecoder},
};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::Client;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

use crate::{
    evidence::Controlled,
    listener::{Notebook, Told, What},
    object::{Held, NAMESPACES, held_in},
    plan::ControllerPlan,
};

/// The namespace it follows.
pub(crate) const NAMESPACE: &str = NAMESPACES[2];

pub(crate) struct Control {
    start: Instant,
    notebook: Arc<Notebook>,
    handle: ChangeConsumerHandle<ConfigMap>,
    stop: oneshot::Sender<()>,
    running: JoinHandle<ChangeConsumerReport>,
}

impl Control {
    pub(crate) fn start(
        client: Client,
        plan: &ControllerPlan,
        wire: WireFormat,
        start: Instant,
    ) -> Self {
        let mut config = ChangeConsumerConfig::named("controller").queue(plan.queue);
        config.seed = plan.seed;
        let controller =
            ChangeConsumer::new(Arc::new(KubeListWatch::new(client, source(wire))), config);
        let handle = controller.handle();
        let notebook = Arc::new(Notebook::default());
        let (notes, pause) = (Arc::clone(&notebook), plan.pause);
        let process = move |event: Event<ConfigMap>| {
            notes.told().push(told(&event, start.elapsed()));
            async move {
                sleep(pause).await;
                Ok::<_, Infallible>(())
            }
        };
        let (stop, stopped) = oneshot::channel();
        // Nobody cancels it; and if somebody did, that is an end too.
        let stopped = stopped.map(|_| ());
        let running = tokio::spawn(controller.run(process, stopped));
        Self {
            start,
            notebook,
            handle,
            stop,
            running,
        }
    }

    pub(crate) fn held(&self) -> Vec<Held> {
        held_in(&self.handle.reader().snapshot())
    }

    /// Ends it, and waits until what it has begun is done.
    pub(crate) async fn end(self) -> Controlled {
        let (held, until) = (self.held(), self.start.elapsed());
        let is_ended = self.stop.send(()).is_ok() && self.running.await.is_ok();
        let told = std::mem::take(&mut *self.notebook.told());
        Controlled {
            until,
            told,
            held,
            is_ended,
        }
    }
}

fn told(event: &Event<ConfigMap>, at: Duration) -> Told {
    Told {
        at,
        key: event.key().clone(),
        what: What::of(event),
        in_store: None,
    }
}

fn source(wire: WireFormat) -> KubeSource<ConfigMap> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    KubeSource::new(path, "v1", "ConfigMap", Arc::new(SerdeDecoder::default())).wire(wire)
}
