//! Ends that are longer than any clock, and runtimes that end, or lack a timer, under an informer.

use std::convert::Infallible;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use informer_factory::kube_source::Deadlines;
use informer_factory::processor::handler_fn;
use informer_factory::reflector::{Config, Phase};
use informer_factory::{
    AddHandlerError, AddIndexError, AddNamespaceError, AsyncHandler, ChangeConsumer,
    ChangeConsumerConfig, Event, Grace, InformerOptions, InformerState, ListenerConfig, Namespaces,
    NotHandled, ObjectKey, RemoveNamespaceError, ResourceVersion, SharedInformer,
    SharedInformerFactory, StartError, WaitForVersionError, index,
};
use informer_testkit::ApiServer;
use k8s_openapi::api::core::v1::Pod;
use tokio::runtime::{Builder, Runtime};

use crate::cluster::{QUEUES, Recorder, SOON, factory, pod, pod_in, pods};

const ENDLESS: Grace = Grace(Duration::MAX);

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    let builder = builder.enable_time().start_paused(true);
    builder.build().expect("a runtime")
}

/// A handler whose first callback never returns.
struct Stuck;

impl AsyncHandler<ObjectKey, Pod> for Stuck {
    async fn on_notification(&mut self, _: Event<Pod>) {
        pending::<()>().await;
    }
}

/// A synced informer of one pod.
async fn synced(server: &ApiServer) -> (SharedInformerFactory, SharedInformer<Pod>) {
    server.create(&pods(), pod("a", "n1")).expect("created");
    let factory = factory(server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
    (factory, informer)
}

#[tokio::test(start_paused = true)]
async fn shutdown_with_an_endless_grace_delivers_everything() {
    let server = ApiServer::new();
    let (factory, informer) = synced(&server).await;
    let recorder = Recorder::default();
    informer.add_handler(recorder.clone()).expect("it runs");
    let report = factory.shutdown(ENDLESS).await.expect("not in a callback");
    assert!(report.is_complete(), "{report:?}");
    assert_eq!(recorder.lines().len(), 1);
    assert_eq!(informer.status().state, InformerState::Stopped);
    assert_eq!(server.open_watches(&pods()), 0);
}

#[tokio::test(start_paused = true)]
async fn release_with_an_endless_grace_ends_the_informer() {
    let server = ApiServer::new();
    let (factory, informer) = synced(&server).await;
    let released = factory.release(&informer, ENDLESS).await;
    assert!(released.expect("not in a callback").is_some());
    assert_eq!(informer.status().state, InformerState::Stopped);
    assert_eq!(server.open_watches(&pods()), 0);
}

/// Nobody knows what such a shutdown has left undone, so its report is not complete.
#[test]
fn shutdown_cut_off_by_the_end_of_its_runtime_is_not_complete() {
    let (server, first) = (ApiServer::new(), runtime());
    let (factory, informer) = first.block_on(async {
        let (factory, informer) = synced(&server).await;
        let added = informer.add_async_handler(Stuck, ListenerConfig::default());
        drop(added.expect("it runs"));
        tokio::time::sleep(Duration::from_secs(1)).await;
        let ending = factory.shutdown(Grace(Duration::from_secs(60)));
        let ending = tokio::time::timeout(Duration::from_secs(1), ending).await;
        assert!(ending.is_err(), "the handler is stuck");
        (factory, informer)
    });
    assert_eq!(informer.status().state, InformerState::Stopping);
    drop(first);
    assert_eq!(informer.status().state, InformerState::Stopped);
    let report = runtime().block_on(factory.shutdown(Grace::default()));
    let report = report.expect("not in a callback");
    assert!(!report.is_complete(), "{report:?}");
    assert_eq!(report.abandoned(), 1, "{report:?}");
}

/// Each call and each wait says so, those that had begun before too.
#[test]
fn informer_whose_runtime_has_ended_says_so() {
    let (server, first, second) = (ApiServer::new(), runtime(), runtime());
    let (factory, informer) = first.block_on(synced(&server));
    let later = ResourceVersion::from("999999");
    let waiting = second.spawn({
        let (informer, later) = (informer.clone(), later.clone());
        async move { informer.wait_for_version(&later, Duration::MAX).await }
    });
    let (_, mut stream) = informer.events(ListenerConfig::default()).expect("it runs");
    second.block_on(async { assert!(stream.next().await.is_some()) });
    drop(first);

    let status = informer.status();
    assert_eq!(status.state, InformerState::RuntimeGone);
    assert_eq!(status.sources[0].phase, Phase::Stopped);
    assert_eq!(informer.lister().all().len(), 1, "the store can be read");
    second.block_on(async {
        let waited = waiting.await.expect("it does not panic");
        assert!(
            matches!(waited, Err(WaitForVersionError::RuntimeGone(_))),
            "{waited:?}"
        );
        assert!(stream.next().await.is_none(), "the stream ends");
        for started in [informer.start(), factory.start()] {
            assert!(
                matches!(started, Err(StartError::RuntimeGone(_))),
                "{started:?}"
            );
        }
        for waited in [
            informer.wait_synced(SOON).await,
            factory.wait_synced(SOON).await,
        ] {
            let error = waited.expect_err("it follows nothing");
            assert_eq!(error.culprits[0].state, InformerState::RuntimeGone);
            assert!(error.to_string().contains("runtime"), "{error}");
        }
        let waited = informer.wait_for_version(&later, Duration::MAX).await;
        assert!(matches!(waited, Err(WaitForVersionError::RuntimeGone(_))));
        let added = informer.add_handler(Recorder::default());
        assert!(
            matches!(added, Err(AddHandlerError::RuntimeGone(_))),
            "{added:?}"
        );
        let events = informer.events(ListenerConfig::default());
        assert!(matches!(events, Err(AddHandlerError::RuntimeGone(_))));
        let added = informer.add_index("node", index::node);
        assert!(matches!(added, Err(AddIndexError::RuntimeGone(_))));
        let added = informer.add_namespace("b");
        assert!(matches!(added, Err(AddNamespaceError::RuntimeGone(_))));
        let removed = informer.remove_namespace("b").await;
        assert!(matches!(removed, Err(RemoveNamespaceError::RuntimeGone(_))));
        assert_eq!(informer.status_stream().count().await, 1);
        let report = factory.shutdown(Grace::default()).await;
        assert!(!report.expect("not in a callback").is_complete());
        assert_eq!(informer.status().state, InformerState::Stopped);
    });
}

/// IN-9: a handler ends with its runtime, and handles no version any more.
#[test]
fn handler_whose_runtime_has_ended_says_so() {
    let (server, first, second) = (ApiServer::new(), runtime(), runtime());
    let (_factory, informer) = first.block_on(synced(&server));
    let added = first.block_on(async { informer.add_handler(Recorder::default()) });
    let handler = added.expect("it runs");
    let (present, later) = (server.version().into(), ResourceVersion::from("999999"));
    let handled = first.block_on(handler.wait_for_version(&present, SOON));
    handled.expect("it runs");
    drop(first);

    second.block_on(async {
        let handled = handler.wait_for_version(&later, Duration::MAX).await;
        let gone = matches!(
            handled,
            Err(NotHandled::NotApplied(WaitForVersionError::RuntimeGone(_)))
        );
        assert!(gone, "{handled:?}");
        let handled = handler.wait_for_version(&present, Duration::MAX).await;
        assert!(
            matches!(handled, Err(NotHandled::Handler { .. })),
            "{handled:?}"
        );
    });
}

/// A source that is added from another runtime runs where the informer runs.
#[test]
fn namespace_added_outside_of_the_runtime_of_the_informer_is_followed() {
    let (server, first) = (ApiServer::new(), runtime());
    for namespace in ["a", "b"] {
        let created = server.create(&pods(), pod_in(namespace, "p", "n1"));
        created.expect("created");
    }
    let options = InformerOptions::<Pod>::new().namespaces(Namespaces::These(vec!["a".into()]));
    let (_factory, informer) = first.block_on(async {
        let factory = factory(&server, QUEUES[0]);
        let informer = factory.informer_with(options).expect("legal");
        informer.start().expect("a runtime");
        (factory, informer)
    });
    informer.add_namespace("b").expect("it runs");
    let waited = first.block_on(informer.wait_synced(SOON));
    waited.expect("synced");
    assert_eq!(informer.lister().all().len(), 2);
}

#[test]
fn start_on_a_runtime_without_a_timer_is_refused() {
    let timeless = Builder::new_current_thread().build().expect("a runtime");
    let server = ApiServer::new();
    let good = runtime();
    let factory = good.block_on(async { factory(&server, QUEUES[0]) });
    let informer = factory.informer::<Pod>();
    let started = timeless.block_on(async { informer.start() });
    assert!(matches!(started, Err(StartError::NoTimer)), "{started:?}");
    assert_eq!(informer.status().state, InformerState::Created);
    good.block_on(async {
        informer.start().expect("it has a timer");
        informer.wait_synced(SOON).await.expect("synced");
    });
}

/// A watch may be asked for that lives longer than any clock.
#[tokio::test(start_paused = true)]
async fn watch_without_end_is_followed() {
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let deadlines = Deadlines::default().watch_margin(Duration::MAX);
    let mut config = Config::default();
    config.watch_timeout = Duration::MAX..=Duration::MAX;
    let options = InformerOptions::<Pod>::new()
        .deadlines(deadlines)
        .reflector(config);
    let informer = factory.informer_with(options).expect("legal");
    let recorder = Recorder::default();
    informer.add_handler(recorder.clone()).expect("it runs");
    informer.start().expect("a runtime");
    recorder.wait(1).await;
    server.create(&pods(), pod("b", "n1")).expect("created");
    recorder.wait(1).await;
    let status = informer.status();
    assert_eq!(status.state, InformerState::Synced);
    assert!(status.sources[0].failure.is_none(), "{status:?}");
}

/// FM-79: the wish is kept until the removal is done; the last wish counts.
#[tokio::test(start_paused = true)]
async fn namespace_added_during_its_removal_is_followed_again() {
    let server = ApiServer::new();
    for namespace in ["a", "b"] {
        let created = server.create(&pods(), pod_in(namespace, "p", "n1"));
        created.expect("created");
    }
    let factory = factory(&server, QUEUES[0]);
    let names = vec!["a".to_owned(), "b".to_owned()];
    let options = InformerOptions::<Pod>::new().namespaces(Namespaces::These(names));
    let informer = factory.informer_with(options).expect("legal");
    informer.start().expect("a runtime");
    informer.wait_synced(SOON).await.expect("synced");
    let recorder = Recorder::default();
    informer.add_handler(recorder.clone()).expect("it runs");
    recorder.wait(2).await;

    let mut removal = pin!(informer.remove_namespace("a"));
    assert!(removal.as_mut().now_or_never().is_none());
    informer.add_namespace("a").expect("it is being removed");
    let again = informer.add_namespace("a");
    assert!(
        matches!(again, Err(AddNamespaceError::AlreadyWatched { .. })),
        "it is wished for already"
    );
    removal.await.expect("it was watched");
    let told = recorder.wait(2).await;
    assert!(
        told[0].starts_with("tombstone a/p") && told[1].starts_with("add p@"),
        "{told:?}"
    );
    assert_eq!(informer.status().sources.len(), 2);

    let mut removal = pin!(informer.remove_namespace("a"));
    assert!(removal.as_mut().now_or_never().is_none());
    informer.add_namespace("a").expect("it is being removed");
    let taken_back = informer.remove_namespace("a").await;
    taken_back.expect("the addition is taken back");
    removal.await.expect("it was watched");
    assert_eq!(informer.status().sources.len(), 1);
    assert_eq!(informer.lister().all().len(), 1);
}

/// A handler that was added on a runtime of its own lives and ends with it; the informer goes on.
#[test]
fn end_of_another_runtime_is_not_the_end_of_the_informer() {
    let (server, first, other) = (ApiServer::new(), runtime(), runtime());
    let (factory, informer) = first.block_on(synced(&server));
    let registration = other.block_on(async {
        informer.add_handler(handler_fn(
            |_: &informer_factory::Notification<ObjectKey, Pod>| {},
        ))
    });
    drop(registration.expect("it runs"));
    drop(other);
    assert_eq!(informer.status().state, InformerState::Synced);
    let report = first.block_on(factory.shutdown(Grace::default()));
    assert!(report.expect("not in a callback").is_complete());
    let _shared: Arc<Pod> = informer.lister().all().remove(0);
}

/// A `ChangeConsumer` cannot go on without a timer, and must not end as if it had been stopped.
#[test]
fn change_consumer_on_a_runtime_without_a_timer_does_not_end_well() {
    let timeless = Builder::new_current_thread().build().expect("a runtime");
    let source = ApiServer::new().source::<Pod>(&pods()).expect("registered");
    let consumer = ChangeConsumer::new(Arc::new(source), ChangeConsumerConfig::named("pods"));
    let process = |_: Event<Pod>| async { Ok::<(), Infallible>(()) };
    let ended = catch_unwind(AssertUnwindSafe(|| {
        timeless.block_on(consumer.run(process, pending::<()>()))
    }));
    assert!(ended.is_err(), "{ended:?}");
}

/// A handle of a runtime can be entered after the runtime has ended.
#[test]
fn start_on_a_runtime_that_has_ended_is_refused() {
    let (server, first, gone) = (ApiServer::new(), runtime(), runtime());
    let factory = first.block_on(async { factory(&server, QUEUES[0]) });
    let informer = factory.informer::<Pod>();
    let handle = gone.handle().clone();
    drop(gone);
    let _entered = handle.enter();
    let started = informer.start();
    assert!(
        matches!(started, Err(StartError::RuntimeGone(_))),
        "{started:?}"
    );
    assert_eq!(informer.status().state, InformerState::RuntimeGone);
}
