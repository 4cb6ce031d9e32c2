//! Streams, whose consumer is the user: told everything, and ended by whoever ends them.

use std::time::Duration;

use futures::StreamExt;

use super::explore;
use super::heard::Heard;
use super::heard::Hearing;
use super::world::{World, replay};
use crate::sync::{block_on, thread};
use crate::{Handler, ListenerConfig};

/// A reader of a stream that ends when the stream does.
fn read(
    world: &World,
    heard: &std::sync::Arc<Heard>,
) -> (crate::Registration, thread::JoinHandle<()>) {
    let (joining, mut stream) = world
        .processor
        .add_stream(ListenerConfig::named("reading"))
        .expect("nobody has stopped it");
    let (sequence, state) = world.snapshot();
    let registration = joining.begin(sequence, replay(state));
    let mut hearing = Hearing(heard.clone());
    let reader = thread::spawn(move || {
        while let Some(news) = block_on(stream.next()) {
            hearing.on_notification(&news);
        }
    });
    (registration, reader)
}

/// PR-6: a stop waits for what the stream still has to give.
pub(super) fn stopped() {
    let (world, heard) = (World::new(), Heard::new());
    world.set(1, 1);
    let (_registration, reader) = read(&world, &heard);
    world.set(1, 2);
    let report = block_on(world.processor.stop(Duration::MAX));
    assert!(report.is_clean(), "{report:?}");
    reader.join().expect("the stream ends");
    heard.check_final(&world.state());
}

/// FM-68: removed while it is read and written to.
pub(super) fn removed() {
    let (world, heard) = (World::new(), Heard::new());
    let (registration, reader) = read(&world, &heard);
    let writer = thread::spawn({
        let world = world.clone();
        move || world.set(1, 1)
    });
    block_on(registration.remove()).expect("not in a callback");
    reader.join().expect("the stream ends");
    writer.join().expect("the writer ends");
    assert!(world.processor.listeners().is_empty(), "it is off the list");
    heard.check();
}

#[test]
fn a_stop_waits_until_a_stream_was_read() {
    explore(stopped);
}

#[test]
fn a_removed_stream_ends_for_its_reader() {
    explore(removed);
}
