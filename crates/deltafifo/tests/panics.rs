//! A panic in `Clone` of an object or a position loses nothing: the queue is as it was.

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::{Context, Waker};

use futures::FutureExt;
use informer_deltafifo::{
    Consumer, DeltaFifo, InOrderQueue, Item, Lease, Producer, Queue, channel,
};

thread_local! {
    static CLONES_PANIC: Cell<bool> = const { Cell::new(false) };
}

/// An object or a position whose `Clone` panics on request.
#[derive(Debug, PartialEq, Eq)]
struct Fragile(u32);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        if CLONES_PANIC.get() {
            // Not by `panic!`, whose hook would write to standard error.
            resume_unwind(Box::new("a Clone that panics"));
        }
        Self(self.0)
    }
}

/// Runs `f` while `Clone` panics; whether it unwound.
fn unwinds<R>(f: impl FnOnce() -> R) -> bool {
    CLONES_PANIC.set(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    CLONES_PANIC.set(false);
    result.is_err()
}

type Both = [Box<dyn Queue<&'static str, Fragile, Fragile>>; 2];

fn both() -> Both {
    let mut queues: Both = [
        Box::new(DeltaFifo::default()),
        Box::new(InOrderQueue::default()),
    ];
    for queue in &mut queues {
        queue.add("a", Fragile(1), Fragile(1)).expect("open");
        queue.add("b", Fragile(2), Fragile(2)).expect("open");
    }
    queues
}

fn keys<P>(lease: &Lease<&'static str, Fragile, P>) -> Vec<&'static str> {
    let key = |item: &Item<&'static str, Fragile>| match item {
        Item::Key { key, .. } => *key,
        Item::Replace { .. } | Item::Resync => "*",
    };
    lease.items.iter().map(key).collect()
}

fn queued(queue: &dyn Queue<&'static str, Fragile, Fragile>) -> Vec<u32> {
    let mut queued = Vec::new();
    queue.for_each_queued(&mut |_, object| queued.push(object.0));
    queued
}

#[test]
fn clone_of_a_position_that_panics_in_lease_loses_no_item() {
    for mut queue in both() {
        queue.bookmark(Fragile(3)).expect("open");
        assert!(unwinds(|| queue.lease(NonZeroUsize::MAX)));
        assert_eq!((queue.len(), queued(&*queue)), (2, vec![1, 2]));
        let lease = queue.lease(NonZeroUsize::MAX).expect("two are pending");
        assert_eq!(keys(&lease), ["a", "b"]);
        assert!(queue.lease(NonZeroUsize::MAX).is_none(), "it is out");
        queue.ack(lease.id).expect("it is out");
        assert_eq!(queue.applied(), Some(&Fragile(3)));
    }
}

#[test]
fn clone_of_an_object_that_panics_in_nack_loses_no_item() {
    for mut queue in both() {
        let lease = queue.lease(NonZeroUsize::MAX).expect("two are pending");
        assert!(unwinds(|| queue.nack(lease.id, &[0])));
        assert_eq!((queue.len(), queued(&*queue)), (2, vec![1, 2]));
        // Nothing was settled: the lease can be given back, and is handed out again.
        let again = queue.lease(NonZeroUsize::MIN).expect("it was not settled");
        assert_eq!((again.id, keys(&again)), (lease.id, vec!["a", "b"]));
        queue.nack(lease.id, &[1]).expect("it is out");
        let again = queue.lease(NonZeroUsize::MAX).expect("one failed");
        assert_eq!(keys(&again), ["b"]);
        queue.ack(again.id).expect("it is out");
        assert!(queue.is_empty());
    }
}

/// A tombstone carries a copy of the last pending object.
#[test]
fn clone_of_an_object_that_panics_in_a_relist_leaves_the_queue_as_it_was() {
    let [mut queue, _] = both();
    assert!(unwinds(|| queue.replace(Vec::new(), Fragile(3), &())));
    assert_eq!((queue.len(), queued(&*queue)), (2, vec![1, 2]));
    assert_eq!(queue.received(), Some(&Fragile(2)));
}

type Ends = (
    Producer<&'static str, Fragile, u32>,
    Consumer<&'static str, Fragile, u32>,
);

fn ends() -> Ends {
    let (producer, consumer) = channel(DeltaFifo::default(), NonZeroUsize::MAX);
    for (key, object) in [("a", 1), ("b", 2)] {
        let add = producer.add(key, Fragile(object), object);
        add.now_or_never().expect("there is room").expect("open");
    }
    (producer, consumer)
}

#[test]
fn guard_whose_objects_panic_in_clone_is_handed_out_again() {
    for by_nack in [true, false] {
        let (producer, consumer) = ends();
        let leased = consumer.next(NonZeroUsize::MAX).now_or_never().flatten();
        let leased = leased.expect("two are pending");
        let mut next = pin!(consumer.next(NonZeroUsize::MIN));
        assert!(
            next.as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_pending()
        );
        let panicked = unwinds(|| match by_nack {
            true => drop(leased.nack(&[0])),
            false => drop(leased),
        });
        assert!(panicked);
        let again = next
            .now_or_never()
            .flatten()
            .expect("it is handed out again");
        assert_eq!(keys(&again), ["a", "b"]);
        again.ack();
        assert!(producer.progress().unsettled == 0);
    }
}
