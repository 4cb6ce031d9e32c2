//! PR-15: a caller that waits for what it distributed, beside another writer and a removal.

use super::explore;
use super::heard::Heard;
use super::world::World;
use crate::sync::{block_on, thread};
use crate::{NotDelivered, Overflow};

fn beside_a_writer_of(overflow: Overflow) {
    let (world, heard) = (World::new(), Heard::new());
    let registration = world
        .add_with(&heard, overflow)
        .expect("nobody has stopped it");
    let writer = thread::spawn({
        let world = world.clone();
        move || world.set(2, 2)
    });
    world.set(1, 1);
    block_on(registration.wait_delivered()).expect("nobody ends it");
    assert!(heard.has_received(1, 1), "PR-15");
    writer.join().expect("the writer ends");
    block_on(registration.wait_delivered()).expect("nobody ends it");
    heard.check_final(&world.state());
}

/// The handler keeps every notification.
pub(super) fn beside_a_writer() {
    beside_a_writer_of(Overflow::default());
}

/// The handler coalesces.
pub(super) fn beside_a_writer_coalescing() {
    beside_a_writer_of(Overflow::Coalesce);
}

/// A removal ends the wait, whether or not the notification was handled before it.
pub(super) fn beside_a_removal() {
    let (world, heard) = (World::new(), Heard::new());
    let registration = world.add(&heard).expect("nobody has stopped it");
    world.set(1, 1);
    let remover = thread::spawn({
        let registration = registration.clone();
        move || registration.remove_now()
    });
    match block_on(registration.wait_delivered()) {
        Ok(()) => assert!(heard.has_received(1, 1), "PR-15"),
        Err(error) => assert_eq!(error, NotDelivered::Ended),
    }
    remover.join().expect("the remover ends");
    heard.check();
}

#[test]
fn a_wait_ends_after_the_callback_while_another_writes() {
    explore(beside_a_writer);
}

#[test]
fn a_wait_ends_after_the_callback_of_a_coalescing_handler() {
    explore(beside_a_writer_coalescing);
}

#[test]
fn a_removal_ends_a_wait() {
    explore(beside_a_removal);
}
