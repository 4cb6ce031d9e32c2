//! Start, stop, release and drop, in every order (IN-4..6, FAX-2..5, FM-67, FM-80, FM-81).

use std::sync::Arc;
use std::time::Duration;

use crate::cluster::{QUEUES, Recorder, SOON, factory, pod, pods};
use futures::StreamExt;
use informer_factory::{
    Grace, InformerState, ListenerConfig, Notification, ObjectKey, ResourceVersion, SharedInformer,
    StartError, WaitForVersionError, processor,
};
use informer_testkit::ApiServer;
use k8s_openapi::api::core::v1::Pod;
use tokio::sync::{mpsc, oneshot};

/// FAX-4, SI-11: after the end everything is refused by a typed error, the store can be read, and a
/// second shutdown gives the same report.
#[tokio::test(start_paused = true)]
async fn after_the_end_everything_is_refused_and_the_store_stays() {
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    let recorder = Recorder::default();
    informer.add_handler(recorder.clone()).expect("running");
    factory.start().expect("a runtime");
    factory.wait_for_sync(SOON).await.expect("synced");

    let first = factory
        .shutdown(Grace::default())
        .await
        .expect("not in a callback");
    let second = factory
        .shutdown(Grace::none())
        .await
        .expect("not in a callback");
    assert_eq!(first.informers[0].handlers, second.informers[0].handlers);
    assert_eq!(first.informers[0].handlers.delivered, 1);
    assert_eq!(informer.status().state, InformerState::Stopped);
    assert_eq!(
        informer.lister().all().len(),
        1,
        "the store can still be read"
    );
    assert!(matches!(factory.start(), Err(StartError::Stopped(_))));
    assert!(matches!(informer.start(), Err(StartError::Stopped(_))));
    assert!(informer.add_handler(Recorder::default()).is_err());
    assert!(
        informer
            .add_index("late", informer_factory::index::node)
            .is_err()
    );
    assert!(factory.informer_with::<Pod>(Default::default()).is_err());
    let ended = factory.informer::<Pod>();
    assert!(ended.start().is_err());
    let error = informer.wait_for_version(&"999".into(), SOON).await;
    assert!(matches!(error, Err(WaitForVersionError::Stopped(_))));
    server.wait_for_watches(&pods(), 0).await;
}

/// FM-80: stop before start completes at once, and nothing was ever asked of the server.
#[tokio::test(start_paused = true)]
async fn stop_before_start_asks_nothing_of_the_server() {
    let server = ApiServer::new();
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    let registration = informer.add_handler(Recorder::default()).expect("running");
    let report = factory
        .shutdown(Grace::default())
        .await
        .expect("not in a callback");
    assert!(report.is_complete());
    assert!(!registration.is_synced());
    assert!(server.requests().is_empty());
}

/// FM-81, D1: the end does not wait for a back-off, at whatever point it comes.
#[tokio::test(start_paused = true)]
async fn the_end_is_prompt_at_any_point() {
    for after in [0, 1, 2, 5, 50, 500, 5_000, 50_000] {
        let server = ApiServer::new();
        let out = informer_testkit::Fault::status(503, "ServiceUnavailable", "out");
        server.fault(
            informer_testkit::Match::any(),
            out,
            informer_testkit::Times::Always,
        );
        let factory = factory(&server, QUEUES[0]);
        let _informer = factory.informer::<Pod>();
        factory.start().expect("a runtime");
        tokio::time::advance(Duration::from_millis(after)).await;
        let start = tokio::time::Instant::now();
        let report = factory
            .shutdown(Grace::default())
            .await
            .expect("not in a callback");
        assert!(report.is_complete(), "{report:?}");
        let took = start.elapsed();
        assert!(
            took < Duration::from_millis(1),
            "after {after} ms: {took:?}"
        );
    }
}

/// FAX-5: a released informer ends, and who asks next gets a new one.
#[tokio::test(start_paused = true)]
async fn release_ends_one_informer_and_forgets_it() {
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    factory.start().expect("a runtime");
    factory.wait_for_sync(SOON).await.expect("synced");
    let report = factory
        .release(&informer, Grace::default())
        .await
        .expect("not in a callback");
    assert!(report.is_some());
    server.wait_for_watches(&pods(), 0).await;
    assert!(
        factory
            .release(&informer, Grace::default())
            .await
            .expect("as before")
            .is_none()
    );
    let next = factory.informer::<Pod>();
    assert!(!next.has_synced());
    factory.start().expect("only the new one is started");
    factory.wait_for_sync(SOON).await.expect("synced");
    assert_eq!(next.lister().all().len(), 1);
}

/// IN-6: a factory that is dropped without a shutdown takes its tasks and callbacks with it.
#[tokio::test(start_paused = true)]
async fn a_dropped_factory_ends_its_informers() {
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    let recorder = Recorder::default();
    informer.add_handler(recorder.clone()).expect("running");
    factory.start().expect("a runtime");
    factory.wait_for_sync(SOON).await.expect("synced");
    recorder.wait(1).await;
    drop(factory);
    server.wait_for_watches(&pods(), 0).await;
    server.create(&pods(), pod("b", "n1")).expect("created");
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(recorder.take().is_empty());
    assert_eq!(informer.status().state, InformerState::Stopped);
}

/// Ends its informer out of a callback, which would wait for itself.
struct EndsItself {
    informer: SharedInformer<Pod>,
    answer: Option<oneshot::Sender<bool>>,
}

impl processor::AsyncHandler<ObjectKey, Pod> for EndsItself {
    async fn on_notification(&mut self, _: Arc<Notification<ObjectKey, Pod>>) {
        if let Some(answer) = self.answer.take() {
            let refused = self.informer.shutdown(Grace::default()).await.is_err();
            answer.send(refused).expect("the test waits");
        }
    }
}

/// FM-67: from a callback, a shutdown is refused by a typed error, and reads work.
#[tokio::test(start_paused = true)]
async fn shutdown_from_a_callback_is_refused() {
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    let (answer, refused) = oneshot::channel();
    let handler = EndsItself {
        informer: informer.clone(),
        answer: Some(answer),
    };
    informer
        .add_async_handler(handler, ListenerConfig::named("ends itself"))
        .expect("running");
    factory.start().expect("a runtime");
    assert!(refused.await.expect("answered"));
    factory
        .shutdown(Grace::default())
        .await
        .expect("not in a callback");
}

/// FM-64, PR-9, D1: a handler that never returns delays neither the store nor another handler, and
/// at the end it is reported, not waited for.
#[tokio::test(start_paused = true)]
async fn a_stuck_handler_is_reported_and_delays_nobody() {
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    let stuck = processor::async_fn(|_| std::future::pending::<()>());
    let registration = informer
        .add_async_handler(stuck, ListenerConfig::named("stuck"))
        .expect("running");
    let recorder = Recorder::default();
    informer.add_handler(recorder.clone()).expect("running");
    factory.start().expect("a runtime");
    factory
        .wait_for_sync(SOON)
        .await
        .expect("the informer is synced");
    server.create(&pods(), pod("b", "n1")).expect("created");
    assert_eq!(recorder.wait(2).await.len(), 2);
    assert!(!registration.is_synced(), "IN-2: this handler is not");
    let report = factory
        .shutdown(Grace(Duration::from_secs(3)))
        .await
        .expect("not in a callback");
    assert!(!report.is_complete());
    assert_eq!(report.abandoned(), 2);
    let stuck = &report.informers[0].handlers.listeners[0];
    assert_eq!((&*stuck.name, stuck.still_running), ("stuck", true));
}

/// The status stream begins with now and ends with the end (readiness probes).
#[tokio::test(start_paused = true)]
async fn the_status_stream_tells_each_state_once_it_is_reached() {
    let server = ApiServer::new();
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    let (states, mut seen) = mpsc::unbounded_channel();
    let mut stream = std::pin::pin!(informer.status_stream());
    let first = stream.next().await.expect("now");
    assert_eq!(first.state, InformerState::Created);
    let watching = informer.clone();
    let watcher = tokio::spawn(async move {
        let mut stream = std::pin::pin!(watching.status_stream());
        while let Some(status) = stream.next().await {
            states.send(status.state).expect("the test listens");
        }
    });
    factory.start().expect("a runtime");
    factory.wait_for_sync(SOON).await.expect("synced");
    while seen.recv().await.expect("goes on") != InformerState::Synced {}
    factory
        .shutdown(Grace::default())
        .await
        .expect("not in a callback");
    watcher.await.expect("the stream ends");
    let mut last = InformerState::Synced;
    while let Some(state) = seen.recv().await {
        last = state;
    }
    assert_eq!(last, InformerState::Stopped);
}

/// IN-8: read your own writes; a version that does not come is a typed error with what there is.
#[tokio::test(start_paused = true)]
async fn wait_for_version_is_about_what_was_applied() {
    for queue in QUEUES {
        let server = ApiServer::builder()
            .bookmark_interval(Duration::from_secs(5))
            .build();
        let factory = factory(&server, queue);
        let informer = factory.informer::<Pod>();
        factory.start().expect("a runtime");
        factory.wait_for_sync(SOON).await.expect("synced");
        for name in ["a", "b", "c"] {
            let version = server
                .create(&pods(), pod(name, "n1"))
                .expect("created")
                .version();
            let version = ResourceVersion::from(version);
            informer
                .wait_for_version(&version, SOON)
                .await
                .expect("reached");
            assert!(informer.lister().namespace("default").get(name).is_some());
        }
        // A version in which nothing changed here is reached by a bookmark.
        let nodes = informer_testkit::Resource::nodes();
        let node = serde_json::json!({"metadata": {"name": "n1"}});
        let version = server.create(&nodes, node).expect("created").version();
        let version = ResourceVersion::from(version);
        informer
            .wait_for_version(&version, SOON)
            .await
            .expect("a bookmark tells");
        assert_eq!(
            informer
                .reader()
                .version(&informer_factory::store::Scope::All),
            Some(version)
        );

        let never = ResourceVersion::from("999999");
        let error = informer
            .wait_for_version(&never, Duration::from_secs(1))
            .await;
        assert!(
            matches!(error, Err(WaitForVersionError::TimedOut { .. })),
            "{error:?}"
        );
        let odd = ResourceVersion::from("abc");
        let error = informer
            .wait_for_version(&odd, Duration::from_secs(1))
            .await;
        assert!(
            matches!(error, Err(WaitForVersionError::Incomparable { .. })),
            "{error:?}"
        );
    }
}

/// A shutdown whose caller gives up goes on, and a later call gets its report.
#[tokio::test(start_paused = true)]
async fn a_shutdown_that_is_given_up_goes_on() {
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    let stuck = processor::async_fn(|_| std::future::pending::<()>());
    let config = ListenerConfig::named("stuck");
    informer.add_async_handler(stuck, config).expect("running");
    factory.start().expect("a runtime");
    factory.wait_for_sync(SOON).await.expect("synced");
    let grace = Grace(Duration::from_secs(10));
    let impatient = tokio::time::timeout(Duration::from_secs(1), informer.shutdown(grace)).await;
    assert!(impatient.is_err());
    let report = informer
        .shutdown(Grace::none())
        .await
        .expect("not in a callback");
    assert_eq!(report.handlers.abandoned, 1);
    assert_eq!(informer.status().state, InformerState::Stopped);
}

/// An informer that was shut down by itself makes room for a new one, and holds nobody up.
#[tokio::test(start_paused = true)]
async fn an_informer_that_ended_by_itself_makes_room() {
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let first = factory.informer::<Pod>();
    factory.start().expect("a runtime");
    first
        .shutdown(Grace::default())
        .await
        .expect("not in a callback");
    let nodes = factory.informer::<k8s_openapi::api::core::v1::Node>();
    factory.start().expect("the one that ended is passed over");
    let second = factory.informer::<Pod>();
    factory.start().expect("the new one starts");
    factory.wait_for_sync(SOON).await.expect("synced");
    assert_eq!((second.lister().all().len(), nodes.has_synced()), (1, true));
}

/// One probe for the whole program.
#[tokio::test(start_paused = true)]
async fn the_factory_tells_when_all_are_synced() {
    let server = ApiServer::new();
    let factory = factory(&server, QUEUES[0]);
    factory.informer::<Pod>();
    factory.informer::<k8s_openapi::api::core::v1::Node>();
    let mut stream = std::pin::pin!(factory.status_stream());
    factory.start().expect("a runtime");
    loop {
        let all = stream.next().await.expect("they go on");
        if all
            .iter()
            .all(|status| status.state == InformerState::Synced)
        {
            assert_eq!(all.len(), 2);
            break;
        }
    }
    factory
        .shutdown(Grace::default())
        .await
        .expect("not in a callback");
    while stream.next().await.is_some() {}
}
