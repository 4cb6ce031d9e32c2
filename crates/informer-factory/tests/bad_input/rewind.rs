//! The server's history is rewound: etcd was restored from a backup (FM-39, RFX-15, golden row P).

use informer_factory::{ResourceVersion, WaitForVersionError};

use informer_testkit::{Fault, Match, Times};

use crate::cluster::{self, QUEUES, SOON};
use crate::world::World;

/// The store follows the server back; handlers hear of every difference once; who waits for a
/// version of the old history is told that it may never come.
#[tokio::test(start_paused = true)]
async fn a_restored_server_begins_a_new_epoch() {
    for queue in QUEUES {
        let world = World::synced(queue, &["a", "b", "same"]).await;
        let backup = world.server.version();
        let before = world.stored();
        let a = world.change("a");
        world.delete("b");
        let c = world.create("c");
        world.told.wait(3).await;
        let waiting = tokio::spawn({
            let informer = world.informer.clone();
            async move { informer.wait_for_version(&"900".into(), SOON).await }
        });
        tokio::task::yield_now().await;

        // A watch from a version that is still to come is accepted in silence, as etcd does it;
        // what tells is the next list, here since the history has a gap.
        world
            .server
            .fault(Match::watch(), Fault::expired_event(), Times::Once);
        world.server.restore(backup).expect("within the history");
        let answer = waiting.await.expect("no panic");
        assert!(
            matches!(answer, Err(WaitForVersionError::NewEpoch { .. })),
            "{answer:?}"
        );
        let mut told = world.told.wait(3).await;
        told.sort();
        let wanted = [
            format!("add {}", before[1]),
            format!("tombstone default/c last c@{c}"),
            format!("update a@{a} -> {} Relist", before[0]),
        ];
        assert!(wanted.iter().all(|line| told.contains(line)), "{told:#?}");
        assert_eq!(world.stored(), before);
        cluster::assert_store_matches_pods(&world.server, &world.informer);
        let status = world.informer.status();
        assert_eq!(status.sources[0].epoch, 1, "{status:?}");

        // In the new epoch versions count again.
        let a = ResourceVersion::from(world.change("a"));
        world
            .informer
            .wait_for_version(&a, SOON)
            .await
            .expect("reached");
        world.converges().await;
    }
}

/// A rewind that nobody saw: the server has grown beyond our version before we came back, so that
/// the watch goes on. What a list then says is older than what we hold, and yet it is the truth.
#[tokio::test(start_paused = true)]
async fn a_rewind_nobody_saw_is_put_right_by_the_next_list() {
    for queue in QUEUES {
        let world = World::synced(queue, &["a", "b", "same"]).await;
        let backup = world.server.version();
        world.change("a");
        world.delete("b");
        world.create("b");
        world.told.wait(3).await;
        world.server.restore(backup).expect("within the history");
        world.server.skip_versions(1_000);
        let a = world.server.version();
        world.told.take();

        // The gap that makes it list; nothing before it tells of the rewind.
        world.server.compact();
        world.server.cut_watches();
        // `a` as it was, and the other `b` gone and this one there.
        world.told.wait(3).await;
        world.converges().await;
        let status = world.informer.status();
        assert_eq!(status.sources[0].epoch, 1, "{status:?}");
        let version = ResourceVersion::from(a);
        let waited = world.informer.wait_for_version(&version, SOON).await;
        waited.expect("versions count again");
    }
}
