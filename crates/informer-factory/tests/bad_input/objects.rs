//! Objects that cannot be used, and events that contradict what is known: golden rows V, A, K, L,
//! M, N and Y.

use std::num::NonZeroUsize;

use informer_factory::{
    InformerOptions, InformerState, QuarantineReason, Transform, reflector::Config,
};
use informer_testkit::{ApiServer, Fault, Match, Times, Verb};
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;

use crate::cluster::{self, QUEUES, SOON, pods};
use crate::world::{HOUR, World, plain};

fn bad_item() -> Fault {
    Fault::UndecodableItem
}

/// Row V, FM-53: a bad item of the first list is named by key, and everything else is there; a good
/// version of it from the watch ends that.
#[tokio::test(start_paused = true)]
async fn a_bad_item_of_the_first_list_is_quarantined_alone() {
    for queue in QUEUES {
        let world = World::new(queue, &["a", "b", "c"]);
        world.server.fault(Match::list(), bad_item(), Times::Always);
        world.start().await;
        world.told.wait(2).await;
        let quarantined = world.informer.quarantined();
        assert_eq!(
            (quarantined.len(), quarantined[0].key.as_str()),
            (1, "default/a")
        );
        let QuarantineReason::Undecodable(error) = &quarantined[0].reason else {
            panic!("{quarantined:?}");
        };
        assert!(error.path.starts_with("spec"), "{error}");
        assert!(!quarantined[0].version.is_unset());
        let status = world.informer.status();
        assert_eq!(
            (status.state, status.quarantined),
            (InformerState::Degraded, 1)
        );
        assert_eq!(world.requests(Verb::List).len(), 1, "it poisons nothing");

        let a = world.change("a");
        assert_eq!(world.told.wait(1).await, [format!("add a@{a}")]);
        assert!(world.quarantined().is_empty());
        assert_eq!(world.informer.status().state, InformerState::Synced);
        cluster::assert_store_matches_pods(&world.server, &world.informer);
    }
}

/// Row V through a streaming list: an item among the initial events.
#[tokio::test(start_paused = true)]
async fn a_bad_initial_event_is_quarantined_alone() {
    for queue in QUEUES {
        let server = ApiServer::new();
        for name in ["a", "b"] {
            server
                .create(&pods(), cluster::pod(name, "n1"))
                .expect("created");
        }
        let world = World::over(server, queue, Config::default().streaming(true));
        let initial = Match::watch().initial_events(true);
        world.server.fault(initial, bad_item(), Times::Once);
        world.start().await;
        assert_eq!(world.quarantined(), ["default/a"]);
        assert_eq!(world.told.wait(1).await.len(), 1);
        world.delete("a");
        world.converges().await;
        assert!(world.quarantined().is_empty());
        let told = world.told.wait(1).await;
        assert!(
            told.iter().all(|line| line.starts_with("add last@")),
            "{told:?}"
        );
    }
}

/// Row V after a gap, IN-7: the last good version stays, nobody is told of a deletion, and the key
/// leaves with the next list that is good, or that leaves it out.
#[tokio::test(start_paused = true)]
async fn the_last_good_version_outlives_a_bad_relist() {
    for queue in QUEUES {
        for ends_by_deletion in [false, true] {
            let world = World::synced(queue, &["a", "b"]).await;
            let before = world.stored();
            let bad = world.server.fault(Match::list(), bad_item(), Times::Always);
            world.change("a");
            world.gap();
            let b = world.change("b");
            assert!(world.told.wait(1).await[0].contains(&format!("-> b@{b} ")));
            assert_eq!(world.quarantined(), ["default/a"]);
            assert_eq!(world.stored(), [before[0].clone(), format!("b@{b}")]);

            world.server.remove_fault(bad);
            if ends_by_deletion {
                world.gap();
                world.delete("a");
                let told = world.told.wait(1).await;
                assert!(
                    told[0].ends_with(&before[0]) || told[0].contains("delete a@"),
                    "{told:?}"
                );
            } else {
                world.gap();
                let told = world.told.wait(1).await;
                assert!(
                    told[0].starts_with(&format!("update {} -> a@", before[0])),
                    "{told:?}"
                );
            }
            world.converges().await;
            assert!(world.quarantined().is_empty());
        }
    }
}

/// Row A, FM-54: a bad event is quarantined by key, what follows it is there, nothing is listed
/// again; the last good version stays until a good one or the deletion comes.
#[tokio::test(start_paused = true)]
async fn a_bad_event_is_quarantined_and_its_last_good_version_stays() {
    for queue in QUEUES {
        let world = World::synced(queue, &["a"]).await;
        let before = world.stored();
        world.server.fault(Match::watch(), bad_item(), Times::Once);
        world.watch_again().await;
        world.change("a");
        let c = world.create("c");
        assert_eq!(world.told.wait(1).await, [format!("add c@{c}")]);
        assert_eq!(world.quarantined(), ["default/a"]);
        assert_eq!(world.stored(), [before[0].clone(), format!("c@{c}")]);
        let a = world.change("a");
        assert_eq!(
            world.told.wait(1).await,
            [format!("update {} -> a@{a} Watch", before[0])]
        );
        assert!(world.quarantined().is_empty());

        world.server.fault(Match::watch(), bad_item(), Times::Once);
        world.watch_again().await;
        world.create("b");
        world.create("d");
        world.told.wait(1).await;
        assert_eq!(world.quarantined(), ["default/b"]);
        world.delete("b");
        world.converges().await;
        assert!(world.quarantined().is_empty());
        let told = world.told.wait(1).await;
        assert!(
            told.iter().all(|line| line.starts_with("add last@")),
            "never told: {told:?}"
        );
        assert_eq!(world.requests(Verb::List).len(), 1);
    }
}

/// FM-54: how a deleted object looked cannot be told, but that it is gone is.
#[tokio::test(start_paused = true)]
async fn a_bad_deletion_is_a_deletion_all_the_same() {
    for queue in QUEUES {
        let world = World::synced(queue, &["a"]).await;
        let before = world.stored();
        world.server.fault(Match::watch(), bad_item(), Times::Once);
        world.watch_again().await;
        world.delete("a");
        let expected = [format!("tombstone default/a last {}", before[0])];
        assert_eq!(world.told.wait(1).await, expected);
        assert!(world.quarantined().is_empty());
        world.converges().await;
    }
}

/// A bad version of another life: the old life is over, and told so.
#[tokio::test(start_paused = true)]
async fn a_bad_successor_ends_the_life_before_it() {
    for queue in QUEUES {
        let world = World::synced(queue, &["a"]).await;
        let before = world.stored();
        world
            .server
            .fault(Match::watch(), Fault::LoseEvent(1), Times::Once);
        world.server.fault(Match::watch(), bad_item(), Times::Once);
        world.watch_again().await;
        world.delete("a");
        world.create("a");
        let expected = [format!("tombstone default/a last {}", before[0])];
        assert_eq!(world.told.wait(1).await, expected);
        assert_eq!(world.quarantined(), ["default/a"]);
        let a = world.change("a");
        assert_eq!(world.told.wait(1).await, [format!("add a@{a}")]);
        world.converges().await;
    }
}

/// Row K, PR-2: the deletion of an object that was never seen is not told.
#[tokio::test(start_paused = true)]
async fn the_deletion_of_a_stranger_is_not_told() {
    for queue in QUEUES {
        let world = World::synced(queue, &["a"]).await;
        world
            .server
            .fault(Match::watch(), Fault::LoseEvent(1), Times::Once);
        world.watch_again().await;
        world.create("b");
        world.delete("b");
        world.converges().await;
        let told = world.told.wait(1).await;
        assert!(
            told.len() == 1 && told[0].starts_with("add last@"),
            "{told:?}"
        );
    }
}

/// Row L, STX-7, PR-5: an event that is older than what is stored is dropped, whether it claims an
/// older version or is sent again.
#[tokio::test(start_paused = true)]
async fn an_older_event_is_dropped() {
    for queue in QUEUES {
        for fault in [Fault::OlderVersion(1), Fault::ReplaySuffix(3)] {
            let world = World::synced(queue, &["a"]).await;
            for _ in 0..3 {
                world.change("a");
            }
            let before = world.told.wait(3).await;
            world
                .server
                .fault(Match::watch(), fault.clone(), Times::Once);
            world.watch_again().await;
            world.change("a");
            let a = world.change("a");
            let claims = matches!(fault, Fault::OlderVersion(_));
            let told = world.told.wait(if claims { 1 } else { 2 }).await;
            let last = told.last().expect("one at least");
            // An older version at the start of a watch may mean a rewind; only a list can tell.
            let cause = if claims { "Relist" } else { "Watch" };
            assert!(
                last.ends_with(&format!("-> a@{a} {cause}")),
                "{fault:?}: {told:?}"
            );
            let from = before[2]
                .split("-> ")
                .nth(1)
                .expect("an update")
                .replace(" Watch", "");
            assert!(
                told[0].starts_with(&format!("update {from} -> ")),
                "{fault:?}: {told:?}"
            );
            world.converges().await;
            assert_eq!(world.told.wait(1).await.len(), 1, "{fault:?}");
        }
    }
}

/// Row M, FQ-8: a key twice in one list is one object, in its newest version.
#[tokio::test(start_paused = true)]
async fn a_key_twice_in_a_list_is_added_once() {
    for queue in QUEUES {
        let world = World::new(queue, &["a", "b"]);
        let a = world.change("a");
        world
            .server
            .fault(Match::list(), Fault::DuplicateKey, Times::Always);
        world.start().await;
        let mut told = world.told.wait(2).await;
        told.sort();
        assert_eq!(told[0], format!("add a@{a} initial"));
        assert!(told[1].starts_with("add b@"), "{told:?}");
        world.gap();
        world.converges().await;
        let told = world.told.wait(1).await;
        assert!(
            told.len() == 1 && told[0].starts_with("add last@"),
            "{told:?}"
        );
    }
}

/// Row N, FM-45, PR-4: a name that comes back with another uid is a deletion and an addition, in
/// this order and with both visible at once, whether a list or a watch shows it.
#[tokio::test(start_paused = true)]
async fn a_name_with_another_uid_is_another_life() {
    for queue in QUEUES {
        for within_a_watch in [false, true] {
            let world = World::synced(queue, &["a"]).await;
            let before = world.stored();
            if within_a_watch {
                world
                    .server
                    .fault(Match::watch(), Fault::LoseEvent(1), Times::Once);
                world.watch_again().await;
            } else {
                world.gap();
            }
            world.delete("a");
            let a = world.create("a");
            if !within_a_watch {
                world.server.compact_and_forget();
            }
            let told = world.told.wait(2).await;
            let expected = [
                format!("tombstone default/a last {}", before[0]),
                format!("add a@{a}"),
            ];
            assert_eq!(told, expected, "within a watch: {within_a_watch}");
            world.converges().await;
        }
    }
}

/// Row Y, FM-52: a list with an object without a name is refused as a whole and never stored under
/// half a key; the next good one is taken.
#[tokio::test(start_paused = true)]
async fn an_object_without_a_name_is_never_stored() {
    for queue in QUEUES {
        let world = World::new(queue, &["a", "b"]);
        world
            .server
            .fault(Match::list(), Fault::Nameless, Times::Times(3));
        world.factory.start().expect("a runtime");
        world
            .factory
            .wait_synced(SOON)
            .await
            .expect("the fourth list is good");
        assert_eq!(world.requests(Verb::List).len(), 4);
        let mut names: Vec<String> = world.told.wait(2).await;
        names.sort();
        assert!(
            names[0].starts_with("add a@") && names[1].starts_with("add b@"),
            "{names:?}"
        );
        world.converges().await;
    }
}

/// SEC-23: of a flood of bad objects the reasons of the first are kept and all are counted; the
/// informer is degraded, lists again now and then, and no more once it is over.
#[tokio::test(start_paused = true)]
async fn a_flood_of_bad_objects_is_bounded_and_listed_again() {
    for queue in QUEUES {
        let names: Vec<String> = (0..9).map(|i| format!("p{i}")).collect();
        let server = ApiServer::new();
        for name in &names {
            let created = server.create(&pods(), cluster::pod(name, "bad"));
            created.expect("created");
        }
        let factory = cluster::factory(&server, queue);
        let mut options = InformerOptions::new().reflector(plain());
        options.quarantined = NonZeroUsize::new(4).expect("not zero");
        options = options.transform(Transform::new(|pod: Pod| {
            let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
            let is_bad = node.as_deref() == Some("bad");
            if is_bad {
                Err("no".to_owned())
            } else {
                Ok(pod)
            }
        }));
        let informer = factory.informer_with::<Pod>(options).expect("fresh");
        factory.start().expect("a runtime");
        factory.wait_synced(SOON).await.expect("synced");
        let status = informer.status();
        assert_eq!(
            (status.state, status.quarantined),
            (InformerState::Degraded, 9)
        );
        assert_eq!(informer.quarantined().len(), 4, "{queue:?}");
        tokio::time::sleep(HOUR).await;
        let lists = informer.status().sources[0].lists;
        assert!((5..=7).contains(&lists), "{lists} lists in an hour");
        for name in &names {
            let patch = json!({"spec": {"nodeName": "good"}});
            let patched = server.patch(&pods(), "default", name, patch);
            patched.expect("patched");
        }
        tokio::time::sleep(HOUR).await;
        let status = informer.status();
        assert_eq!(
            (status.state, status.quarantined, status.objects),
            (InformerState::Synced, 0, 9)
        );
        assert!(status.sources[0].lists <= lists + 1, "{status:?}");
        cluster::assert_store_matches_pods(&server, &informer);
    }
}
