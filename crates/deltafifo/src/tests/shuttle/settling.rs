//! Leases given back and acknowledged, and what "synced" waits for (FQ-9, FQ-11).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use shuttle::future::block_on;
use shuttle::thread;

use super::{ends, explore, filler, is_whole, n, objects};

/// FQ-9: "synced" is true only when the initial list has been processed, and stays true.
pub(super) fn synced() {
    let (producer, consumer) = ends(2);
    let observer = consumer.observer();
    let settled = Arc::new(AtomicBool::new(false));
    let waiting = thread::spawn({
        let settled = settled.clone();
        move || {
            assert_eq!(block_on(observer.wait_synced()), Ok(()));
            assert!(settled.load(Ordering::SeqCst), "FQ-9: not yet processed");
            assert!(observer.is_synced(), "FQ-9: it went back");
        }
    });
    let listing = thread::spawn(move || {
        block_on(producer.replace(vec![(1, 0), (2, 0)], 1, || ())).expect("open");
        block_on(producer.add(1, 1, 2)).expect("open");
    });
    // The first attempt is given up: it goes back, and does not count.
    drop(block_on(consumer.next(n(1))).expect("something comes"));
    while let Some(lease) = block_on(consumer.next(n(1))) {
        settled.store(true, Ordering::SeqCst);
        lease.ack();
    }
    listing.join().expect("it ends");
    waiting.join().expect("it ends");
}

/// FQ-11: what is given back comes again, before what came after it.
pub(super) fn given_back() {
    let (producer, consumer) = ends(2);
    let filling = filler(producer, 1, 3);
    let (mut drained, mut drops) = (Vec::new(), 0);
    while let Some(lease) = block_on(consumer.next(n(2))) {
        if drops < 2 {
            drops += 1;
            continue;
        }
        drained.extend(objects(lease.items()));
        lease.ack();
    }
    assert_eq!(filling.join().expect("it ends"), 3);
    assert!(is_whole(&drained, 1, 3), "FQ-11: {drained:?}");
}

#[test]
fn synced_waits_for_what_was_given_back() {
    explore(synced);
}

#[test]
fn what_is_given_back_keeps_its_place() {
    explore(given_back);
}
