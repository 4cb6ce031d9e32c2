//! Starts reflectors, independent of the type of their sources.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use informer_reflector::{Config, Control, ListWatch, Outcome, Reflector, Reuse};
use informer_store::Scope;
use tokio_util::sync::CancellationToken;

use crate::running::adapters::QueueSink;
use crate::status::observer::StatusObserver;

/// The parts of one reflector.
pub(crate) struct Parts<T: Send + Sync + 'static> {
    pub(crate) sink: QueueSink<T>,
    pub(crate) reuse: Arc<dyn Reuse<T>>,
    pub(crate) observer: StatusObserver,
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
            observer,
            config,
            seed,
            stop,
        } = parts;
        let reflector = Reflector::new(self(scope), sink, reuse, observer, config, seed);
        let control = reflector.control();
        let running = async move { reflector.run(stop.cancelled_owned()).await };
        (control, running.boxed())
    }
}
