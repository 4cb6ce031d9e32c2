//! Joining while commits are made: no gap, no repeat, and "synced" in time (PR-6, PR-7, FM-72).

use std::time::Duration;

use super::explore;
use super::heard::Heard;
use super::world::World;
use crate::Overflow;
use crate::sync::{block_on, thread};

fn join_amid_commits(overflow: Overflow) {
    let (world, heard) = (World::new(), Heard::new());
    world.set(1, 1);
    let writer = thread::spawn({
        let world = world.clone();
        move || {
            world.set(1, 2);
            world.set(2, 3);
            world.delete(1);
        }
    });
    world
        .add_with(&heard, overflow)
        .expect("nobody has stopped it");
    writer.join().expect("the writer ends");
    block_on(world.processor.stop(Duration::MAX));
    heard.check_final(&world.state());
}

/// PR-7: all that is there, once, and then every commit, once.
pub(super) fn late_join() {
    join_amid_commits(Overflow::default());
}

/// RB-6: a listener that merges ends with the same.
pub(super) fn late_join_merging() {
    join_amid_commits(Overflow::Coalesce);
}

/// FM-72: who joins while "all was handed over" is said is told so, and is synced only when the
/// callbacks of all that was there have returned.
pub(super) fn synced() {
    let (world, heard) = (World::new(), Heard::new());
    world.set(1, 1);
    world.set(2, 1);
    let source = thread::spawn({
        let world = world.clone();
        move || {
            world.processor.upstream_synced();
            world.set(1, 2);
        }
    });
    let registration = world.add(&heard).expect("nobody has stopped it");
    block_on(registration.wait_synced()).expect("nobody ends it");
    assert_eq!(
        heard.initial(),
        2,
        "FM-72: synced before its callbacks returned"
    );
    source.join().expect("the source ends");
    block_on(world.processor.stop(Duration::MAX));
    heard.check_final(&world.state());
}

#[test]
fn late_join_has_no_gap_and_no_repeat() {
    explore(late_join);
}

#[test]
fn late_join_of_a_merging_listener_ends_with_the_same_state() {
    explore(late_join_merging);
}

#[test]
fn synced_is_said_to_all_and_not_too_early() {
    explore(synced);
}
