//! The facade over real sockets: HTTP on loopback, with the client we keep promises with. No timing
//! is asserted; everything that is waited for has a deadline far off.

use std::sync::Arc;
use std::time::Duration;

use crate::cluster::{QUEUES, Recorder, SOON, assert_store_matches_pods, config_map, pod, pods};
use informer_factory::reflector::Config;
use informer_factory::{
    Grace, ListenerConfig, Overflow, QueueKind, ResourceVersion, SharedInformerFactory, index,
};
use informer_testkit::{ApiServer, Fault, Match, Resource, ServerHandle, Times};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use serde_json::json;

async fn served(queue: QueueKind) -> (ApiServer, ServerHandle, SharedInformerFactory) {
    let server = ApiServer::new();
    let handle = server.serve().await.expect("loopback is there");
    let url = handle.url.parse().expect("a URL");
    let client = informer_factory::client(kube_client::Config::new(url)).expect("plain HTTP");
    // Real time passes here; the delays themselves are proved under a paused clock.
    let mut reflector = Config::default();
    reflector.backoff.base = Duration::from_millis(5);
    reflector.backoff.cap = Duration::from_millis(50);
    let factory = SharedInformerFactory::builder(client)
        .queue(queue)
        .reflector(reflector)
        .build();
    (server, handle, factory)
}

fn version(server: &ApiServer) -> ResourceVersion {
    server.version().to_string().into()
}

/// Changes pods while watches break, from another task than those of the informer.
fn churn(server: &ApiServer) {
    for round in 0..20 {
        for number in 0..10 {
            let name = format!("p{number}");
            let patch = json!({"spec": {"nodeName": format!("n{round}")}});
            if server.get(&pods(), "default", &name).is_err() {
                server.create(&pods(), pod(&name, "n0")).expect("created");
            } else if (round + number) % 7 == 0 {
                server.delete(&pods(), "default", &name).expect("deleted");
            } else {
                server
                    .patch(&pods(), "default", &name, patch)
                    .expect("patched");
            }
        }
        if round % 8 == 3 {
            server.close_watches();
        }
    }
}

/// What is there by what was told; `a` was told of before.
fn fold(lines: &[String]) -> std::collections::BTreeSet<String> {
    let mut present = std::collections::BTreeSet::new();
    for line in lines {
        let (word, rest) = line.split_once(' ').expect("a word, then an object");
        let key = rest.trim_start_matches("default/");
        let name = key.split(['@', ' ']).next().expect("a name").to_owned();
        match word {
            "add" => assert!(present.insert(name), "PR-2: {line}"),
            "update" => assert!(present.contains(&name), "PR-2: {line}"),
            _ => assert!(name == "a" || present.remove(&name), "PR-2: {line}"),
        }
    }
    present
}

/// The main job on a runtime of several threads: list, watch, broken watches, a restart, and a gap.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_main_job_over_sockets_on_several_threads() {
    for queue in QUEUES {
        let (server, handle, factory) = served(queue).await;
        server.create(&pods(), pod("a", "n1")).expect("created");
        let informer = factory.informer::<Pod>();
        let by_node = informer.add_index("node", index::node).expect("a new name");
        let told = Recorder::default();
        let config = ListenerConfig::named("slow").overflow(Overflow::Coalesce);
        let slow = informer
            .add_blocking_handler(Recorder::default(), config)
            .expect("running");
        informer.add_handler(told.clone()).expect("running");
        factory.start().expect("a runtime");
        factory.wait_for_sync(SOON).await.expect("synced");
        slow.wait_synced().await.expect("synced");
        assert_eq!(by_node.get("n1").len(), 1);
        told.wait(1).await;

        let cut = Match::watch();
        server.fault(cut, Fault::CutAfterBytes(5_000), Times::Times(2));
        let writer = tokio::task::spawn_blocking({
            let server = server.clone();
            move || churn(&server)
        });
        writer.await.expect("no panic");
        informer
            .wait_for_version(&version(&server), SOON)
            .await
            .expect("reached");
        assert_store_matches_pods(&server, &informer);

        // The server is away for a moment, and has forgotten what happened meanwhile.
        let addr = handle.addr;
        handle.shutdown().await;
        server.delete(&pods(), "default", "a").expect("deleted");
        server.create(&pods(), pod("z", "n1")).expect("created");
        server.compact_and_forget();
        let _handle = server
            .serve_at(addr)
            .await
            .expect("the address is free again");
        informer
            .wait_for_version(&version(&server), SOON)
            .await
            .expect("reached");
        assert_store_matches_pods(&server, &informer);

        let report = factory
            .shutdown(Grace(SOON))
            .await
            .expect("not in a callback");
        assert!(report.is_complete(), "{report:?}");
        let present = fold(&told.take());
        let names: Vec<_> = informer.lister().all();
        let names: std::collections::BTreeSet<_> = names
            .iter()
            .filter_map(|pod| pod.metadata.name.clone())
            .collect();
        assert_eq!(present, names, "PR-6: what was told adds up to the store");
    }
}

/// Fifty pods come and go, and fifty config maps stay.
fn churn_both(server: &ApiServer) {
    for number in 0..50 {
        let (a_pod, map) = (format!("p{number}"), format!("m{number}"));
        let created = server.create(&pods(), pod(&a_pod, "n1"));
        created.expect("created");
        let created = server.create(&Resource::config_maps(), config_map(&map, "x"));
        created.expect("created");
    }
    for number in 0..50 {
        let deleted = server.delete(&pods(), "default", &format!("p{number}"));
        deleted.expect("deleted");
    }
}

/// Two informers, handlers of every kind, one thread.
#[tokio::test(flavor = "current_thread")]
async fn two_informers_and_every_kind_of_handler_on_one_thread() {
    for queue in QUEUES {
        let (server, _handle, factory) = served(queue).await;
        let (pod_informer, map_informer) =
            (factory.informer::<Pod>(), factory.informer::<ConfigMap>());
        let (inline, blocking, maps_told) = (
            Recorder::default(),
            Recorder::default(),
            Recorder::default(),
        );
        pod_informer.add_handler(inline.clone()).expect("running");
        let config = ListenerConfig::named("blocking");
        pod_informer
            .add_blocking_handler(blocking.clone(), config)
            .expect("running");
        let (seen, mut seen_later) = tokio::sync::mpsc::unbounded_channel();
        let waits =
            informer_factory::processor::async_fn(move |news: informer_factory::Event<Pod>| {
                let seen = seen.clone();
                async move {
                    tokio::task::yield_now().await;
                    seen.send(news.key().to_string()).expect("the test listens");
                }
            });
        pod_informer
            .add_async_handler(waits, ListenerConfig::named("waits"))
            .expect("running");
        map_informer
            .add_handler(maps_told.clone())
            .expect("running");
        let (_registration, mut stream) = map_informer
            .events(ListenerConfig::named("stream"))
            .expect("running");
        factory.start().expect("a runtime");
        factory.wait_for_sync(SOON).await.expect("synced");

        churn_both(&server);
        let told = inline.wait(100).await;
        assert_eq!(
            told.iter().filter(|line| line.starts_with("add p")).count(),
            50
        );
        assert_eq!(blocking.wait(100).await, told);
        for _ in 0..100 {
            let next = tokio::time::timeout(SOON, seen_later.recv()).await;
            assert!(next.expect("in time").is_some());
        }
        assert_eq!(maps_told.wait(50).await.len(), 50);
        for _ in 0..50 {
            let next = tokio::time::timeout(SOON, futures::StreamExt::next(&mut stream)).await;
            assert!(next.expect("in time").is_some());
        }
        assert!(pod_informer.lister().all().is_empty());
        assert_eq!(map_informer.lister().all().len(), 50);
        // A stream has handled an item when it is asked for the next one; nobody will.
        drop(stream);
        let report = factory.shutdown(Grace(Duration::from_secs(60))).await;
        assert!(report.expect("not in a callback").is_complete());
    }
}

/// A refused connection and a server that appears later, over sockets.
#[tokio::test(flavor = "current_thread")]
async fn a_server_that_is_not_there_yet_is_named_and_then_found() {
    let server = ApiServer::new();
    let handle = server.serve().await.expect("loopback is there");
    let (url, addr) = (handle.url.clone(), handle.addr);
    handle.shutdown().await;
    let config = kube_client::Config::new(url.parse().expect("a URL"));
    let client = informer_factory::client(config).expect("plain HTTP");
    let factory = SharedInformerFactory::new(client);
    let informer = Arc::new(factory.informer::<Pod>());
    factory.start().expect("a runtime");
    let error = factory
        .wait_for_sync(Duration::from_millis(300))
        .await
        .expect_err("nobody there");
    let failure = error.culprits[0].failure.as_ref().expect("it failed");
    assert_eq!(
        failure.kind,
        informer_factory::reflector::FailureKind::Connect,
        "{error}"
    );
    let _handle = server.serve_at(addr).await.expect("the address is free");
    factory.wait_for_sync(SOON).await.expect("found");
    assert!(informer.has_synced());
}
