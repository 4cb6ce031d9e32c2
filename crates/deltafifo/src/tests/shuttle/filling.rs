//! Producers against the bound and each other (FQ-2, FQ-3, FQ-13).

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use shuttle::future::block_on;
use shuttle::thread;

use super::{drain, ends, explore, filler, is_whole, n, objects};

/// FQ-3: two producers on a queue that holds one; all arrives, in order for each, and nobody
/// waits for ever.
pub(super) fn two_on_a_full_queue() {
    let (producer, consumer) = ends(1);
    let (one, two) = (filler(producer.clone(), 1, 2), filler(producer, 2, 2));
    let drained = drain(&consumer, 2);
    assert_eq!(one.join().expect("it ends"), 2);
    assert_eq!(two.join().expect("it ends"), 2);
    assert!(
        is_whole(&drained, 1, 2) && is_whole(&drained, 2, 2),
        "{drained:?}"
    );
}

/// FQ-13: no schedule fills the queue beyond its bound.
pub(super) fn bounded() {
    let (producer, consumer) = ends(1);
    let (one, two) = (
        filler(producer.clone(), 1, 1),
        filler(producer.clone(), 2, 1),
    );
    let most = producer.progress().unsettled;
    drop(producer);
    assert!(most <= 1, "FQ-13: {most}");
    let mut drained = Vec::new();
    while let Some(lease) = block_on(consumer.next(n(2))) {
        drained.extend(objects(lease.items()));
        assert!(lease.items().len() <= 1, "FQ-13: {:?}", lease.items());
        lease.ack();
    }
    one.join().expect("it ends");
    two.join().expect("it ends");
    assert_eq!(drained.len(), 2, "FQ-3: {drained:?}");
}

/// A wait that is given up leaves nobody behind, and takes no wake-up with it.
pub(super) fn waits_given_up() {
    let (producer, consumer) = ends(1);
    let filling = filler(producer, 1, 2);
    // Polled once and dropped: as a `select` does that something else has won.
    let look = poll_fn(|cx| Poll::Ready(pin!(consumer.next(n(1))).poll(cx)));
    let mut drained = Vec::new();
    if let Poll::Ready(Some(lease)) = block_on(look) {
        drained.extend(objects(lease.items()));
        lease.ack();
    }
    drained.extend(drain(&consumer, 1));
    assert_eq!(filling.join().expect("it ends"), 2);
    assert!(is_whole(&drained, 1, 2), "{drained:?}");
}

/// A relist beside additions: what it shows, and what came after, in this order.
pub(super) fn replaced_beside_additions() {
    let (producer, consumer) = ends(2);
    let adding = filler(producer.clone(), 1, 2);
    let listing = thread::spawn(move || {
        block_on(producer.replace(vec![(2, 0), (3, 0)], 9, || ())).expect("open");
    });
    let drained = drain(&consumer, 3);
    adding.join().expect("it ends");
    listing.join().expect("it ends");
    assert!(is_whole(&drained, 1, 2), "{drained:?}");
    assert!(
        is_whole(&drained, 2, 1) && is_whole(&drained, 3, 1),
        "{drained:?}"
    );
}

#[test]
fn two_producers_on_a_full_queue_both_get_through() {
    explore(two_on_a_full_queue);
}

#[test]
fn no_schedule_fills_a_queue_beyond_its_bound() {
    explore(bounded);
}

#[test]
fn a_wait_that_is_given_up_takes_no_wake_up_with_it() {
    explore(waits_given_up);
}

#[test]
fn a_relist_beside_additions_is_whole() {
    explore(replaced_beside_additions);
}
