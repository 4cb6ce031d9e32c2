//! Stops: drained, cut short, beside a removal, and by dropping (D1, IN-6, FAX-4).

use std::sync::Arc;
use std::time::Duration;

use super::explore;
use super::heard::Heard;
use super::world::World;
use crate::sync::{block_on, thread};

/// A stop with all the time there is delivers what was distributed before it, and says so.
pub(super) fn drained() {
    let (world, heard) = (World::new(), Heard::new());
    world.add(&heard).expect("nobody has stopped it");
    world.set(1, 1);
    world.set(1, 2);
    let late = thread::spawn({
        let world = world.clone();
        move || world.set(2, 1)
    });
    let report = block_on(world.processor.stop(Duration::MAX));
    heard.expect_silence();
    assert!(report.is_clean(), "{report:?}");
    assert!(heard.is_dropped(), "D1: the handler lives");
    assert_eq!(report.delivered, heard.count() as u64, "D1: miscounted");
    assert!(heard.count() >= 2, "D1: not drained");
    late.join().expect("the writer ends");
    heard.check();
}

/// A stop whose grace runs out tells of each callback that has not returned; no other begins.
fn cut_short_after(grace: Duration) {
    let (world, heard) = (World::new(), Heard::new());
    world.add(&heard).expect("nobody has stopped it");
    let writer = thread::spawn({
        let world = world.clone();
        move || {
            world.set(1, 1);
            world.set(1, 2);
        }
    });
    let report = block_on(world.processor.stop(grace));
    if report.listeners.iter().all(|one| !one.still_running) {
        heard.expect_silence();
        assert!(
            !heard.is_running(),
            "D1: a callback runs and is not told of"
        );
    }
    writer.join().expect("the writer ends");
    heard.check();
}

pub(super) fn at_once() {
    cut_short_after(Duration::ZERO);
}

pub(super) fn cut_short() {
    cut_short_after(Duration::from_nanos(2));
}

/// Two who stop, and one who removes: all come back.
pub(super) fn beside_others() {
    let (world, heard) = (World::new(), Heard::new());
    world.set(1, 1);
    let registration = world.add(&heard).expect("nobody has stopped it");
    let stopper = thread::spawn({
        let world = world.clone();
        move || block_on(world.processor.stop(Duration::MAX))
    });
    let remover = thread::spawn(move || block_on(registration.remove()));
    block_on(world.processor.stop(Duration::MAX));
    heard.expect_silence();
    stopper.join().expect("the other stop ends");
    remover.join().expect("it ends").expect("not in a callback");
    heard.check();
}

/// IN-6: the last handle is dropped without a stop; the handler's thread ends all the same.
pub(super) fn dropped() {
    let (world, heard) = (World::new(), Heard::new());
    let registration = world.add(&heard).expect("nobody has stopped it");
    let listener = Arc::clone(&world.processor.registry.listeners()[0]);
    world.set(1, 1);
    drop(world);
    if !listener.gate.is_running() {
        heard.expect_silence();
    }
    block_on(registration.remove()).expect("not in a callback");
    assert!(heard.is_dropped(), "IN-6: the handler lives");
    heard.check();
}

#[test]
fn a_stop_delivers_what_was_distributed_before_it() {
    explore(drained);
}

#[test]
fn a_stop_at_once_tells_of_the_callbacks_that_run() {
    explore(at_once);
}

#[test]
fn a_stop_whose_grace_runs_out_tells_of_the_callbacks_that_run() {
    explore(cut_short);
}

#[test]
fn stops_and_a_removal_at_once_all_end() {
    explore(beside_others);
}

#[test]
fn dropping_the_last_handle_ends_the_handlers() {
    explore(dropped);
}
