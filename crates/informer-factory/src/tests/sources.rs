//! Demands that reach the registry of sources while no reflector runs.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::stream::Pending;
use informer_reflector::{
    Config, Emission, Failure, ListRequest, ListVersion, ListWatch, Observe, Page, Reflector,
    Refused, Report, Reuse, Sink, WatchEvent, WatchRequest,
};
use informer_store::Scope;
use tokio_util::sync::CancellationToken;

use crate::running::sources::Sources;
use crate::status::shared::{Identity, SharedStatus};

/// A server that records lists and never answers.
#[derive(Default)]
struct Silent(Mutex<Vec<ListRequest>>);

impl ListWatch for Silent {
    type Object = u8;
    type Events = Pending<Result<WatchEvent<u8>, Failure>>;

    async fn list(&self, request: ListRequest, _: Arc<dyn Reuse<u8>>) -> Result<Page<u8>, Failure> {
        self.0.lock().expect("not poisoned").push(request);
        pending().await
    }

    async fn watch(&self, _: WatchRequest, _: Arc<dyn Reuse<u8>>) -> Result<Self::Events, Failure> {
        pending().await
    }

    fn describe(&self) -> &str {
        "silent"
    }
}

struct Nothing;

impl Sink<u8> for Nothing {
    async fn accept(&mut self, _: Emission<u8>) -> Result<(), Refused> {
        Ok(())
    }
}

impl Observe for Nothing {
    fn observe(&mut self, _: Report) {}
}

/// FM-40, FM-82: a reflector that panicked cannot repair; the one after it does.
#[tokio::test(start_paused = true)]
async fn a_repair_demanded_between_two_reflectors_reaches_the_second() {
    let sources = Sources::default();
    let status = SharedStatus::new(Identity::named("pods".into()));
    let described = vec![(Scope::All, "pods".into())];
    sources.start(described, &status, |_| {
        let task = tokio::spawn(pending());
        (CancellationToken::new(), task)
    });
    let launch = || {
        let source = Arc::new(Silent::default());
        let mut config = Config::default();
        config.streaming = false;
        let reuse = Arc::new(());
        let reflector = Reflector::new(Arc::clone(&source), Nothing, reuse, Nothing, config, 1);
        sources.set_control(&Scope::All, reflector.control());
        (source, reflector)
    };
    let (first, reflector) = launch();
    drop(reflector);
    assert!(first.0.lock().expect("not poisoned").is_empty());
    sources.repair(&Scope::All);
    let (second, reflector) = launch();
    let ran = tokio::time::timeout(Duration::from_secs(1), reflector.run(pending())).await;
    assert!(ran.is_err(), "a reflector does not end by itself");
    let requests = second.0.lock().expect("not poisoned").clone();
    let last = requests.last().expect("it lists");
    assert!(!last.reuse, "{last:?}");
    assert_eq!(last.version, ListVersion::Consistent, "{last:?}");
}
