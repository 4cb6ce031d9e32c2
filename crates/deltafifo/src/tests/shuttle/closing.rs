//! Closing while others wait: what was taken is drained, and nobody waits for ever (FQ-10).

use shuttle::future::block_on;
use shuttle::thread;

use super::{drain, ends, explore, filler, is_whole, n, shared};
use crate::NeverSynced;

/// FQ-10: what was taken before the close, and nothing else, is drained.
pub(super) fn amid_additions() {
    let (producer, consumer) = ends(1);
    let filling = filler(producer.clone(), 1, 3);
    let closing = thread::spawn(move || producer.close());
    let drained = drain(&consumer, 1);
    closing.join().expect("it ends");
    let taken = filling.join().expect("a producer that waits is refused");
    assert!(is_whole(&drained, 1, taken), "FQ-10: {taken}, {drained:?}");
}

/// FQ-10: without a consumer, producers and those who wait for "synced" are refused.
pub(super) fn by_the_consumer() {
    let (producer, consumer) = ends(1);
    block_on(producer.replace(vec![(2, 0)], 7, || ())).expect("open");
    let observer = consumer.observer();
    let filling = filler(producer, 1, 3);
    let waiting = thread::spawn(move || block_on(observer.wait_synced()));
    drop(consumer);
    assert_eq!(filling.join().expect("it ends"), 0, "FQ-13");
    assert_eq!(waiting.join().expect("it ends"), Err(NeverSynced));
}

/// The last producer closes, two who drain share what is there, and both end.
pub(super) fn two_who_drain() {
    let (producer, consumer) = ends(2);
    let consumer = shared(consumer);
    let filling = filler(producer, 1, 3);
    let other = thread::spawn({
        let consumer = consumer.clone();
        move || drain(&consumer, 1)
    });
    let mut drained = drain(&consumer, 1);
    drained.extend(other.join().expect("it ends"));
    drained.sort_unstable();
    assert_eq!(filling.join().expect("it ends"), 3);
    assert!(is_whole(&drained, 1, 3), "{drained:?}");
}

/// An observer is told of the last change, and then that there is none.
pub(super) fn observed() {
    let (producer, consumer) = ends(1);
    let mut observer = consumer.observer();
    let filling = filler(producer, 1, 2);
    let draining = thread::spawn(move || drain(&consumer, 1));
    let mut last = None;
    while let Some(progress) = block_on(observer.changed()) {
        assert!(last <= progress.applied, "it goes back");
        last = progress.applied;
    }
    assert_eq!(last, Some(1), "the last change was not told");
    assert_eq!(block_on(observer.wait_synced()), Ok(()));
    filling.join().expect("it ends");
    draining.join().expect("it ends");
}

/// A lease that outlives its consumer can still be settled: who waits is told so, not refused.
pub(super) fn beside_a_lease() {
    let (producer, consumer) = ends(1);
    block_on(producer.replace(vec![(1, 0)], 7, || ())).expect("open");
    let observer = consumer.observer();
    let waiting = thread::spawn(move || block_on(observer.wait_synced()));
    let lease = block_on(consumer.next(n(1))).expect("something waits");
    drop(consumer);
    lease.ack();
    assert_eq!(waiting.join().expect("it ends"), Ok(()), "FQ-9");
    assert_eq!(producer.progress().applied, Some(7));
}

#[test]
fn what_was_taken_before_a_close_is_drained() {
    explore(amid_additions);
}

#[test]
fn without_a_consumer_nobody_waits() {
    explore(by_the_consumer);
}

#[test]
fn two_who_drain_share_what_is_there() {
    explore(two_who_drain);
}

#[test]
fn an_observer_is_told_of_the_last_change() {
    explore(observed);
}

#[test]
fn a_lease_that_outlives_its_consumer_counts() {
    explore(beside_a_lease);
}
