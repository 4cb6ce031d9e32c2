//! A factory, the runtime of its tasks, and a server that counts what it is asked and says nothing.

use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{Request, Response};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Client;
use kube_client::client::Body;
use shuttle::thread::{self, JoinHandle};
use tokio::runtime::{Builder, Runtime};
use tower::BoxError;

use crate::{Grace, Namespaces, SharedInformer, SharedInformerFactory, ShutdownReport};

pub(super) struct Stage {
    runtime: Runtime,
    factory: Option<SharedInformerFactory>,
    asked: Arc<AtomicUsize>,
    /// The tasks of the client itself.
    before: usize,
}

/// Plays a scenario. All threads of a schedule are one to the system, so that all of them are on
/// the runtime.
pub(super) fn play(scenario: impl FnOnce(&mut Stage)) {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let handle = runtime.handle().clone();
    let _entered = handle.enter();
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = asked.clone();
    let server = tower::service_fn(move |_: Request<Body>| {
        counting.fetch_add(1, Ordering::SeqCst);
        pending::<Result<Response<Body>, BoxError>>()
    });
    let factory = SharedInformerFactory::builder(Client::new(server, "default"))
        .seed(7)
        .build()
        .expect("legal");
    let before = runtime.metrics().num_alive_tasks();
    scenario(&mut Stage {
        runtime,
        factory: Some(factory),
        asked,
        before,
    });
}

impl Stage {
    pub(super) fn factory(&self) -> &SharedInformerFactory {
        self.factory.as_ref().expect("it was not dropped")
    }

    pub(super) fn drop_factory(&mut self) {
        self.factory = None;
    }

    /// A thread that has a handle of the factory.
    pub(super) fn beside<R: 'static>(
        &self,
        f: impl FnOnce(SharedInformerFactory) -> R + Send + 'static,
    ) -> JoinHandle<R>
    where
        R: Send,
    {
        let factory = self.factory().clone();
        thread::spawn(move || f(factory))
    }

    pub(super) fn run<F: Future>(&self, f: F) -> F::Output {
        self.runtime.block_on(f)
    }

    pub(super) fn shut_down(&self) -> ShutdownReport {
        self.run(self.factory().shutdown(Grace::default()))
            .expect("not in a callback")
    }

    /// Lets all tasks go on until they wait.
    pub(super) fn settle(&self) {
        self.run(tokio::time::sleep(Duration::from_millis(1)));
    }

    /// How many lists the server was asked for: one for each source that was started.
    pub(super) fn asked(&self) -> usize {
        self.settle();
        self.asked.load(Ordering::SeqCst)
    }

    /// Tasks of informers.
    pub(super) fn tasks(&self) -> usize {
        self.runtime.metrics().num_alive_tasks() - self.before
    }
}

pub(super) fn is_same(one: &SharedInformer<Pod>, other: &SharedInformer<Pod>) -> bool {
    Arc::ptr_eq(one.core(), other.core())
}

pub(super) fn these(names: &[&str]) -> Namespaces {
    Namespaces::These(names.iter().map(ToString::to_string).collect())
}
