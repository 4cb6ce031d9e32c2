//! What a handler learns of objects that change, end and come back while nobody looks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer_factory::processor::handler_fn;
use informer_factory::{Deleted, InformerOptions, InformerState, Notification, ObjectKey, index};
use informer_testkit::{ApiServer, Fault, Match, Resource, Times};
use k8s_openapi::api::core::v1::Pod;
use kube_core::discovery::ApiResource;
use serde_json::json;

use crate::cluster::{self, QUEUES, Recorder, SOON, pods};
use crate::world::{HOUR, World};

/// FM-43: the change before a deletion was lost. The deletion brings the final state, which is
/// newer than the one the store had.
#[tokio::test(start_paused = true)]
async fn a_deletion_brings_the_final_state() {
    for queue in QUEUES {
        let world = World::synced(queue, &["a"]).await;
        let ends = Arc::new(Mutex::new(Vec::new()));
        let (heard, reader) = (Arc::clone(&ends), world.informer.reader());
        let handler = handler_fn(move |news: &Notification<ObjectKey, Pod>| {
            if let Notification::Deleted(Deleted::Known { key, last }) = news {
                let held = reader.get(key.as_str()).is_some();
                heard
                    .lock()
                    .expect("whole")
                    .push((index::node(&**last), held));
            }
        });
        world.informer.add_handler(handler).expect("running");
        world
            .server
            .fault(Match::watch(), Fault::LoseEvent(1), Times::Once);
        world.watch_again().await;
        let moved = json!({"spec": {"nodeName": "n2"}});
        let patched = world.server.patch(&pods(), "default", "a", moved);
        patched.expect("patched");
        let before = world.informer.lister().get("default/a").expect("stored");
        assert_eq!(index::node(&*before).as_deref(), Some("n1"));
        world.delete("a");
        world.converges().await;
        let ends = ends.lock().expect("whole").clone();
        assert_eq!(ends, [(Some("n2".into()), false)]);
    }
}

/// FM-44: what happened in a gap is told by where it led, once.
#[tokio::test(start_paused = true)]
async fn states_that_nobody_saw_are_left_out() {
    for queue in QUEUES {
        let world = World::synced(queue, &["a", "b"]).await;
        let before = world.stored();
        world.gap();
        world.change("a");
        world.change("a");
        let a = world.change("a");
        world.create("c");
        world.delete("c");
        let expected = [format!("update {} -> a@{a} Relist", before[0])];
        assert_eq!(world.told.wait(1).await, expected);
        world.converges().await;
        assert_eq!(world.told.wait(1).await.len(), 1, "only `last` is new");
    }
}

/// FM-78: a resource definition is deleted and comes back an hour later: the objects are others,
/// even under the same names, and nothing has to be restarted.
#[tokio::test(start_paused = true)]
async fn a_resource_that_comes_back_is_followed_again() {
    let widgets = Resource::custom("example.com", "v1", "Widget", "widgets", true);
    let widget = |name: &str| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": name, "namespace": "default"},
        })
    };
    for queue in QUEUES {
        let server = ApiServer::new();
        server.register(widgets.clone());
        let create = |name: &str| {
            let created = server.create(&widgets, widget(name)).expect("created");
            format!("{name}@{}", created.version())
        };
        let (w, x) = (create("w"), create("x"));
        let factory = cluster::factory(&server, queue);
        let kind = kube_core::GroupVersionKind::gvk("example.com", "v1", "Widget");
        let resource = ApiResource::from_gvk(&kind);
        let informer = factory.dynamic(&resource, InformerOptions::new());
        let informer = informer.expect("a fresh factory");
        let told = Recorder::default();
        informer.add_handler(told.clone()).expect("running");
        factory.start().expect("a runtime");
        factory.wait_synced(SOON).await.expect("synced");
        told.wait(2).await;

        let gone = Fault::status(404, "NotFound", "no such resource");
        server.fault(Match::any(), gone, Times::Always);
        server.close_watches();
        server.wait_for_watches(&widgets, 0).await;
        for name in ["w", "x"] {
            server.delete(&widgets, "default", name).expect("deleted");
        }
        let again = create("w");
        tokio::time::sleep(HOUR).await;
        assert_eq!(informer.status().state, InformerState::Degraded);
        assert_eq!(informer.lister().all().len(), 2, "what was known is kept");
        server.compact_and_forget();
        server.clear_faults();

        let mut lines = told.wait(3).await;
        lines.sort();
        let expected = [
            format!("add {again}"),
            format!("tombstone default/w last {w}"),
            format!("tombstone default/x last {x}"),
        ];
        assert_eq!(lines, expected);
        assert_eq!(informer.status().state, InformerState::Synced);
    }
}

/// FM-76: access is granted, taken away for an hour, and granted again: the store keeps what it
/// had and says that it is not current, and the grant is noticed within a minute.
#[tokio::test(start_paused = true)]
async fn access_that_is_taken_away_is_waited_for() {
    for queue in QUEUES {
        let world = World::synced(queue, &["a", "b"]).await;
        let before = world.stored();
        let forbidden = Fault::status(403, "Forbidden", "no access to pods");
        world.server.fault(Match::any(), forbidden, Times::Always);
        world.server.close_watches();
        world.server.wait_for_watches(&pods(), 0).await;
        world.server.clear_requests();
        world.delete("b");
        let a = world.change("a");
        tokio::time::sleep(HOUR).await;
        let status = world.informer.status();
        assert_eq!(status.state, InformerState::Degraded);
        let failure = status.sources[0].failure.as_ref().expect("told");
        assert_eq!(failure.code, Some(403));
        assert_eq!(world.stored(), before);
        let requests = world.server.requests().len();
        assert!((60..=200).contains(&requests), "{requests} requests");
        assert!(world.told.take().is_empty());

        world.server.clear_faults();
        let granted = tokio::time::Instant::now();
        assert_eq!(world.told.wait(2).await.len(), 2);
        assert!(granted.elapsed() <= Duration::from_secs(61), "R8");
        assert_eq!(world.stored(), [format!("a@{a}")]);
        assert_eq!(world.informer.status().state, InformerState::Synced);
    }
}
