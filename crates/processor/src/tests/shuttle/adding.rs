//! Adding beside other changes of the list of listeners (FM-68).

use std::time::Duration;

use super::explore;
use super::heard::Heard;
use super::world::World;
use crate::AddError;
use crate::sync::{block_on, thread};

/// Two who join at once are both told.
pub(super) fn two_at_once() {
    let world = World::new();
    let (heard, beside) = (Heard::new(), Heard::new());
    let other = thread::spawn({
        let (world, beside) = (world.clone(), beside.clone());
        move || drop(world.add(&beside).expect("nobody has stopped it"))
    });
    world.add(&heard).expect("nobody has stopped it");
    world.set(1, 1);
    other.join().expect("the other ends");
    world.set(1, 2);
    block_on(world.processor.stop(Duration::MAX));
    heard.check_final(&world.state());
    beside.check_final(&world.state());
}

/// Who joins while another leaves is told; who left is not on the list.
pub(super) fn beside_a_removal() {
    let world = World::new();
    let (heard, leaving) = (Heard::new(), Heard::new());
    let registration = world.add(&leaving).expect("nobody has stopped it");
    let remover = thread::spawn(move || registration.remove_now());
    world.add(&heard).expect("nobody has stopped it");
    world.set(1, 1);
    remover.join().expect("the remover ends");
    assert_eq!(world.processor.listeners().len(), 1, "FM-68");
    block_on(world.processor.stop(Duration::MAX));
    heard.check_final(&world.state());
    leaving.check();
}

/// FAX-4: who joins while the processor stops is refused, or stopped with the others.
pub(super) fn beside_a_stop() {
    let (world, heard) = (World::new(), Heard::new());
    world.set(1, 1);
    let adder = thread::spawn({
        let (world, heard) = (world.clone(), heard.clone());
        move || match world.add(&heard) {
            Ok(registration) => {
                // Only a stop can end it.
                assert!(
                    block_on(registration.wait_synced()).is_err(),
                    "nobody said synced"
                );
            }
            Err(error) => assert!(matches!(error, AddError::Stopped)),
        }
    });
    block_on(world.processor.stop(Duration::MAX));
    heard.expect_silence();
    adder.join().expect("FAX-4: what was added ends");
    heard.check();
}

#[test]
fn two_who_join_at_once_are_both_told() {
    explore(two_at_once);
}

#[test]
fn joining_and_leaving_at_once_lose_nobody() {
    explore(beside_a_removal);
}

#[test]
fn who_joins_while_all_stop_is_refused_or_stopped() {
    explore(beside_a_stop);
}
