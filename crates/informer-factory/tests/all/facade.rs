//! The main job, over the API server in memory and the whole HTTP path, under a paused clock; once
//! with each queue.

use std::time::Duration;

use crate::cluster::{QUEUES, Recorder, SOON, assert_store_matches_pods, factory, pod, pods};
use informer_factory::{Grace, IndexError, ListenerConfig, Overflow, ResourceVersion, index};
use informer_testkit::{ApiServer, Fault, Match, Times};
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;

/// GT-01, GT-03, GT-07: initial adds, then an update with both objects, then a delete with the
/// final state; store and index agree at each step.
#[tokio::test(start_paused = true)]
async fn changes_reach_store_index_and_handler() {
    for queue in QUEUES {
        let server = ApiServer::new();
        let a = server.create(&pods(), pod("a", "n1")).expect("created");
        let factory = factory(&server, queue);
        let informer = factory.informer::<Pod>();
        let by_node = informer.add_index("node", index::node).expect("a new name");
        let recorder = Recorder::default();
        let registration = informer.add_handler(recorder.clone()).expect("running");
        factory.start().expect("a runtime");
        factory.wait_synced(SOON).await.expect("synced");
        registration.wait_synced(SOON).await.expect("synced");
        assert_eq!(recorder.take(), [format!("add a@{} initial", a.version())]);
        assert_eq!(by_node.get("n1").len(), 1);

        let moved = json!({"spec": {"nodeName": "n2"}});
        let changed = server
            .patch(&pods(), "default", "a", moved)
            .expect("patched");
        let (from, to) = (a.version(), changed.version());
        assert_eq!(
            recorder.wait(1).await,
            [format!("update a@{from} -> a@{to} Watch")]
        );
        assert!(by_node.get("n1").is_empty());
        assert_eq!(by_node.get("n2").len(), 1);
        let same = informer.index("node").expect("it was added above");
        assert_eq!(same.get("n2").len(), 1);
        assert!(matches!(
            informer.index("app"),
            Err(IndexError::UnknownIndex { .. })
        ));
        assert_store_matches_pods(&server, &informer);

        server.delete(&pods(), "default", "a").expect("deleted");
        let lines = recorder.wait(1).await;
        assert!(lines[0].starts_with("delete a@"), "{lines:?}");
        assert!(informer.lister().all().is_empty());
        let report = factory
            .shutdown(Grace::default())
            .await
            .expect("not in a callback");
        assert!(report.is_complete(), "{report:?}");
    }
}

/// Done when 8: ten informers on one type from one factory open one watch.
#[tokio::test(start_paused = true)]
async fn ten_informers_on_one_type_open_one_watch() {
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let informers: Vec<_> = (0..10).map(|_| factory.informer::<Pod>()).collect();
    factory.start().expect("a runtime");
    factory.start().expect("again is fine");
    factory.wait_synced(SOON).await.expect("synced");
    assert!(
        informers
            .iter()
            .all(|informer| informer.lister().all().len() == 1)
    );
    assert_eq!(server.open_watches(&pods()), 1);
    assert_eq!(server.requests().len(), 2, "{:#?}", server.requests());
}

/// PR-8: handlers share the stored objects; the first collection is one entry of each backlog.
#[tokio::test(start_paused = true)]
async fn first_collection_is_replayed_from_the_store() {
    for queue in QUEUES {
        let server = ApiServer::new();
        for name in ["a", "b", "c"] {
            server.create(&pods(), pod(name, "n1")).expect("created");
        }
        let factory = factory(&server, queue);
        let informer = factory.informer::<Pod>();
        let recorder = Recorder::default();
        let registration = informer.add_handler(recorder.clone()).expect("running");
        factory.start().expect("a runtime");
        registration.wait_synced(SOON).await.expect("synced");
        let lines = recorder.take();
        assert!(
            lines.iter().all(|line| line.ends_with("initial")),
            "{lines:?}"
        );
        let status = &informer.status().handlers[0];
        assert_eq!((status.replayed, status.received), (3, 0), "{queue:?}");
        assert_eq!((status.delivered, status.high_water), (3, 0), "{queue:?}");
    }
}

/// C-07, PR-7, PR-8: a handler that joins late gets one initial add per object, then every change.
#[tokio::test(start_paused = true)]
async fn a_late_handler_sees_the_present_and_then_every_change() {
    for queue in QUEUES {
        let server = ApiServer::new();
        for name in ["a", "b"] {
            server.create(&pods(), pod(name, "n1")).expect("created");
        }
        let factory = factory(&server, queue);
        let informer = factory.informer::<Pod>();
        factory.start().expect("a runtime");
        factory.wait_synced(SOON).await.expect("synced");
        let c = server.create(&pods(), pod("c", "n1")).expect("created");
        let version = ResourceVersion::from(c.version());
        informer
            .wait_for_version(&version, SOON)
            .await
            .expect("reached");

        let recorder = Recorder::default();
        let registration = informer.add_handler(recorder.clone()).expect("running");
        registration.wait_synced(SOON).await.expect("synced");
        let lines = recorder.take();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(
            lines
                .iter()
                .all(|line| line.starts_with("add") && line.ends_with("initial"))
        );
        let d = server.create(&pods(), pod("d", "n1")).expect("created");
        assert_eq!(recorder.wait(1).await, [format!("add d@{}", d.version())]);
    }
}

/// GT-09, FM-51, PR-13: what was deleted while nobody watched is told by tombstone; what did not
/// change is not told again.
#[tokio::test(start_paused = true)]
async fn a_gap_ends_in_tombstones_and_silence_about_the_unchanged() {
    for queue in QUEUES {
        let server = ApiServer::new();
        for name in ["gone", "same", "changed", "reborn"] {
            server.create(&pods(), pod(name, "n1")).expect("created");
        }
        let factory = factory(&server, queue);
        let informer = factory.informer::<Pod>();
        let recorder = Recorder::default();
        informer.add_handler(recorder.clone()).expect("running");
        factory.start().expect("a runtime");
        factory.wait_synced(SOON).await.expect("synced");
        let before = recorder.wait(4).await;
        assert_eq!(before.len(), 4);
        server.wait_for_watches(&pods(), 1).await;

        server.fault(
            Match::any(),
            Fault::status(503, "ServiceUnavailable", "out"),
            Times::Always,
        );
        server.close_watches();
        server.wait_for_watches(&pods(), 0).await;
        server.delete(&pods(), "default", "gone").expect("deleted");
        server
            .delete(&pods(), "default", "reborn")
            .expect("deleted");
        server
            .create(&pods(), pod("reborn", "n2"))
            .expect("created");
        server
            .patch(
                &pods(),
                "default",
                "changed",
                json!({"spec": {"nodeName": "n9"}}),
            )
            .expect("patched");
        server.create(&pods(), pod("new", "n1")).expect("created");
        server.compact_and_forget();
        server.clear_faults();

        let mut lines = recorder.wait(5).await;
        lines.sort();
        let kinds: Vec<&str> = lines
            .iter()
            .map(|line| line.split('@').next().unwrap_or_default())
            .collect();
        assert_eq!(
            kinds,
            [
                "add new",
                "add reborn",
                "tombstone default/gone last gone",
                "tombstone default/reborn last reborn",
                "update changed"
            ],
            "{lines:?}"
        );
        assert_store_matches_pods(&server, &informer);
        let status = informer.status();
        assert!(status.sources[0].relists() >= 1, "{status:?}");
        assert!(
            status.sources[0].reused >= 1,
            "the unchanged were at hand: {status:?}"
        );
    }
}

/// A listener that coalesces ends with the state of the store all the same (RB-6, PR-6).
#[tokio::test(start_paused = true)]
async fn a_coalescing_handler_ends_where_the_store_is() {
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n0")).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    let config = ListenerConfig::named("slow").overflow(Overflow::Coalesce);
    let (registration, mut stream) = informer.events(config).expect("running");
    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
    let mut last = None;
    for node in 1..=50 {
        let patch = json!({"spec": {"nodeName": format!("n{node}")}});
        last = Some(
            server
                .patch(&pods(), "default", "a", patch)
                .expect("patched"),
        );
    }
    let version = ResourceVersion::from(last.expect("patched").version());
    informer
        .wait_for_version(&version, SOON)
        .await
        .expect("reached");
    let event = futures::StreamExt::next(&mut stream)
        .await
        .expect("one event");
    assert_eq!(
        crate::cluster::tell_event(&event),
        format!("add a@{version} initial")
    );
    assert_eq!(registration.status().coalesced, 50);
}

/// FM-73, IN-4: the error names who is not synced and why; access granted later heals it (FM-76).
#[tokio::test(start_paused = true)]
async fn missing_access_is_named_and_heals_when_granted() {
    let server = ApiServer::new();
    let forbidden = Fault::status(403, "Forbidden", "cannot list pods");
    server.fault(Match::any(), forbidden, Times::Always);
    let factory = factory(&server, QUEUES[0]);
    let informer = factory.informer::<Pod>();
    factory.start().expect("a runtime");
    let error = factory
        .wait_synced(Duration::from_secs(10))
        .await
        .expect_err("no access");
    let text = error.to_string();
    assert!(
        text.contains("pods (/api/v1/pods)") && text.contains("Forbidden (403)"),
        "{text}"
    );
    server.clear_faults();
    factory
        .wait_synced(Duration::from_secs(61))
        .await
        .expect("heals within 60 s");
    assert!(informer.status().sources[0].failure.is_none());
}

/// FM-69, FM-50: resync goes to whoever asked, as such, and repeats only what is there.
#[tokio::test(start_paused = true)]
async fn resync_reaches_only_who_asked_for_it() {
    let server = ApiServer::new();
    let a = server.create(&pods(), pod("a", "n1")).expect("created");
    let builder = informer_factory::SharedInformerFactory::builder(crate::cluster::client(&server));
    let factory = builder.default_resync(Duration::from_secs(600)).build();
    let factory = factory.expect("legal");
    let informer = factory.informer::<Pod>();
    let (eager, calm) = (Recorder::default(), Recorder::default());
    let config = ListenerConfig::named("eager").resync(Duration::from_secs(5));
    informer
        .add_handler_with(eager.clone(), config)
        .expect("running");
    informer.add_handler(calm.clone()).expect("running");
    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
    let version = a.version();
    let expected = [
        format!("add a@{version} initial"),
        format!("update a@{version} -> a@{version} Resync"),
        format!("update a@{version} -> a@{version} Resync"),
    ];
    assert_eq!(eager.wait(3).await, expected);
    assert_eq!(calm.take(), expected[..1]);
}
