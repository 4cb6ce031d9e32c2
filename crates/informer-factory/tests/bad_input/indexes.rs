//! An index function that panics on one object (STX-10, FM-82, IN-7): that key is quarantined, and
//! the informer goes on with all others, list or watch.

use std::sync::Arc;

use informer_factory::{InformerState, QuarantineReason, index};
use informer_testkit::ApiServer;
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;

use crate::cluster::{self, QUEUES, pods};
use crate::world::{World, plain};

/// By node, but for pods on node `boom`.
fn touchy(pod: &Pod) -> Option<Arc<str>> {
    let node = index::node(pod);
    assert_ne!(node.as_deref(), Some("boom"), "planned");
    node
}

fn onto(world: &World, name: &str, node: &str) -> u64 {
    let patch = json!({"spec": {"nodeName": node}});
    world
        .server
        .patch(&pods(), "default", name, patch)
        .expect("patched")
        .version()
}

/// In the first list and in a relist: everything else of the list is there at once.
#[tokio::test(start_paused = true)]
async fn a_panic_over_one_item_of_a_list_costs_that_item() {
    for queue in QUEUES {
        let server = ApiServer::new();
        for (name, node) in [("a", "n1"), ("b", "boom"), ("c", "n1")] {
            server
                .create(&pods(), cluster::pod(name, node))
                .expect("created");
        }
        let world = World::over(server, queue, plain());
        let by_node = world
            .informer
            .add_index("node", touchy)
            .expect("a new name");
        world.start().await;
        let mut told = world.told.wait(2).await;
        told.sort();
        assert!(
            told[0].starts_with("add a@") && told[1].starts_with("add c@"),
            "{told:?}"
        );
        assert_eq!(by_node.get("n1").len(), 2);
        let quarantined = world.informer.quarantined();
        assert_eq!(quarantined.len(), 1, "{quarantined:?}");
        assert_eq!(quarantined[0].key.as_str(), "default/b");
        assert!(matches!(
            quarantined[0].reason,
            QuarantineReason::Unappliable { .. }
        ));
        let status = world.informer.status();
        assert_eq!((status.state, status.objects), (InformerState::Degraded, 2));
        assert!(status.task_panics > 0);

        let before = world.stored();
        onto(&world, "a", "boom");
        world.gap();
        let d = world.create("d");
        assert_eq!(world.told.wait(1).await, [format!("add d@{d}")]);
        assert_eq!(world.quarantined(), ["default/a", "default/b"]);
        assert_eq!(world.stored()[0], before[0], "the last good version stays");
        assert_eq!(by_node.get("n1").len(), 3);

        let (a, b) = (onto(&world, "a", "n2"), onto(&world, "b", "n2"));
        let expected = [
            format!("update {} -> a@{a} Watch", before[0]),
            format!("add b@{b}"),
        ];
        assert_eq!(world.told.wait(2).await, expected);
        assert!(world.quarantined().is_empty());
        assert_eq!(by_node.get("n2").len(), 2);
        world.converges().await;
        assert_eq!(world.informer.status().state, InformerState::Synced);
    }
}

/// In a watch: the store does not change for that key, and the next version heals it.
#[tokio::test(start_paused = true)]
async fn a_panic_over_one_event_costs_that_event() {
    for queue in QUEUES {
        let world = World::new(queue, &["a", "b"]);
        let by_node = world
            .informer
            .add_index("node", touchy)
            .expect("a new name");
        world.start().await;
        world.told.wait(2).await;
        let before = world.stored();
        onto(&world, "a", "boom");
        let b = world.change("b");
        assert!(world.told.wait(1).await[0].ends_with(&format!("-> b@{b} Watch")));
        assert_eq!(world.quarantined(), ["default/a"]);
        assert_eq!(world.stored()[0], before[0]);
        assert_eq!(by_node.get("n1").len(), 1);
        let a = onto(&world, "a", "n3");
        assert_eq!(
            world.told.wait(1).await,
            [format!("update {} -> a@{a} Watch", before[0])]
        );
        assert!(world.quarantined().is_empty());

        onto(&world, "a", "boom");
        world.delete("a");
        let told = world.told.wait(1).await;
        let last = told.last().expect("one at least");
        assert!(
            last.starts_with("delete a@"),
            "a deletion needs no index value: {told:?}"
        );
        world.converges().await;
        assert!(world.quarantined().is_empty());
    }
}

/// A successor on which the function panics: the life before it is over all the same.
#[tokio::test(start_paused = true)]
async fn a_panic_over_a_successor_still_ends_the_life_before_it() {
    for queue in QUEUES {
        let world = World::new(queue, &["a", "b"]);
        world
            .informer
            .add_index("node", touchy)
            .expect("a new name");
        world.start().await;
        world.told.wait(2).await;
        let before = world.stored();
        world.gap();
        world.delete("a");
        world
            .server
            .create(&pods(), cluster::pod("a", "boom"))
            .expect("created");
        world.server.compact_and_forget();
        let expected = [format!("tombstone default/a last {}", before[0])];
        assert_eq!(world.told.wait(1).await, expected);
        assert_eq!(world.quarantined(), ["default/a"]);
        assert_eq!(world.stored(), before[1..]);
    }
}

/// SEC-24: an object that gives one index more values than the bound is quarantined, in a list and
/// in a watch; the bound itself is allowed.
#[tokio::test(start_paused = true)]
async fn an_object_with_too_many_values_is_quarantined() {
    fn values(pod: &Pod) -> Vec<String> {
        let labels = pod.metadata.labels.as_ref();
        let count = labels.and_then(|labels| labels.get("values"));
        let count = count.and_then(|count| count.parse().ok()).unwrap_or(0);
        (0..count).map(|i: usize| i.to_string()).collect()
    }
    let label = |count: usize| json!({"metadata": {"labels": {"values": count.to_string()}}});
    for queue in QUEUES {
        let world = World::new(queue, &["a", "b", "c"]);
        for (name, count) in [("a", 1_024), ("b", 1_025)] {
            let patched = world.server.patch(&pods(), "default", name, label(count));
            patched.expect("patched");
        }
        let by_value = world.informer.add_index("value", values).expect("new");
        world.start().await;
        world.told.wait(2).await;
        assert_eq!(world.quarantined(), ["default/b"]);
        assert_eq!(by_value.get("1023").len(), 1);
        assert!(by_value.get("1024").is_empty());

        let patched = world.server.patch(&pods(), "default", "c", label(100_000));
        patched.expect("patched");
        let patched = world.server.patch(&pods(), "default", "b", label(7));
        patched.expect("patched");
        world.told.wait(1).await;
        assert_eq!(world.quarantined(), ["default/c"]);
        assert_eq!(by_value.get("6").len(), 2);
        // The bound is a value, not a panic: with `panic = "abort"` such an object would end the
        // program.
        assert_eq!(world.informer.status().task_panics, 0);
    }
}

/// SEC-24: an index added after the start meets an object above the bound. The call succeeds, the
/// object stays and has no value in the new index, and its key is quarantined until a version
/// within the bound comes.
#[tokio::test(start_paused = true)]
async fn index_added_after_start_quarantines_a_stored_object_with_too_many_values() {
    let labels = |pod: &Pod| pod.metadata.labels.clone().unwrap_or_default();
    for queue in QUEUES {
        let world = World::new(queue, &["a", "b"]);
        let many: serde_json::Map<_, _> = (0..1_025)
            .map(|at| (format!("label-{at}"), json!("x")))
            .collect();
        let patch = json!({"metadata": {"labels": many}});
        let patched = world.server.patch(&pods(), "default", "b", patch);
        patched.expect("patched");
        world.start().await;
        world.told.wait(2).await;
        let by_label = world.informer.add_index("label", move |pod: &Pod| {
            labels(pod).into_keys().collect::<Vec<_>>()
        });
        let by_label = by_label.expect("a new name");
        assert_eq!(world.quarantined(), ["default/b"]);
        assert_eq!(
            (by_label.get("label-0").len(), world.stored().len()),
            (0, 2)
        );
        assert_eq!(world.informer.status().task_panics, 0);
        // A relist that brings the same version does not heal it.
        world.gap();
        world.create("d");
        world.told.wait(1).await;
        assert_eq!(world.quarantined(), ["default/b"]);

        let none = json!({"metadata": {"labels": null}});
        let patched = world.server.patch(&pods(), "default", "b", none);
        patched.expect("patched");
        world.told.wait(1).await;
        assert!(world.quarantined().is_empty());
    }
}
