//! Starts reflectors, independent of the type of their sources.

use std::any::Any;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use informer_kube_source::KubeListWatch;
use informer_reflector::{Config, Control, ListWatch, Outcome, Reflector, Reuse};
use informer_store::Scope;
use tokio_util::sync::CancellationToken;

use crate::running::adapters::QueueSink;
use crate::status::observer::{ReceivedWireFn, StatusObserver};
use crate::status::shared::SharedStatus;

/// The parts of one reflector.
pub(crate) struct Parts<T: Send + Sync + 'static> {
    pub(crate) sink: QueueSink<T>,
    pub(crate) reuse: Arc<dyn Reuse<T>>,
    pub(crate) status: Arc<SharedStatus>,
    pub(crate) config: Config,
    pub(crate) seed: u64,
    pub(crate) stop: CancellationToken,
}

/// Starts reflectors over sources of one kind.
pub(crate) trait Launch<T: Send + Sync + 'static>: Send + Sync {
    /// What the source of a scope lists, for messages.
    fn describe(&self, scope: &Scope) -> Arc<str>;

    /// A reflector over the source of a scope, to be polled until it ends.
    fn launch(&self, scope: &Scope, parts: Parts<T>) -> (Control, BoxFuture<'static, Outcome>);
}

/// A function that makes the source of a scope.
impl<T, L, F> Launch<T> for F
where
    T: Send + Sync + 'static,
    L: ListWatch<Object = T>,
    F: Fn(&Scope) -> Arc<L> + Send + Sync,
{
    fn describe(&self, scope: &Scope) -> Arc<str> {
        Arc::from(self(scope).describe())
    }

    fn launch(&self, scope: &Scope, parts: Parts<T>) -> (Control, BoxFuture<'static, Outcome>) {
        let Parts {
            sink,
            reuse,
            status,
            config,
            seed,
            stop,
        } = parts;
        let source = self(scope);
        let observer = StatusObserver {
            status,
            scope: scope.clone(),
            received_wire: received_wire(Arc::clone(&source)),
        };
        let reflector = Reflector::new(source, sink, reuse, observer, config, seed);
        let control = reflector.control();
        let running = async move { reflector.run(stop.cancelled_owned()).await };
        (control, running.boxed())
    }
}

/// Reads the wire format of a source, if it is one that has a wire.
fn received_wire<L: ListWatch>(source: Arc<L>) -> Box<ReceivedWireFn> {
    let source: Arc<dyn Any + Send + Sync> = source;
    Box::new(move || {
        let source: Option<&KubeListWatch<L::Object>> = source.downcast_ref();
        source.and_then(KubeListWatch::received_wire)
    })
}
