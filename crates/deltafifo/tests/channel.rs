//! The async shell, polled by hand: wake-ups, bound, closing, cancellation. No timing.

use std::collections::BTreeMap;
use std::future::Future;
use std::num::{NonZeroU32, NonZeroUsize};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use informer_deltafifo::{
    Closed, Config, Consumer, Deletion, DeltaFifo, Final, InOrderQueue, Item, NeverSynced,
    Producer, Queue, channel,
};

type Ends = (
    Producer<&'static str, u32, u64>,
    Consumer<&'static str, u32, u64>,
);

fn ends(bound: usize) -> Ends {
    channel(DeltaFifo::new(Config::default()), n(bound))
}

fn n(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("not zero")
}

/// Counts wake-ups.
#[derive(Default)]
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls by hand and counts wake-ups.
#[derive(Default)]
struct Hand(Arc<Bell>);

impl Hand {
    fn poll<F: Future>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        let waker = Waker::from(Arc::clone(&self.0));
        future.poll(&mut Context::from_waker(&waker))
    }

    fn rung(&self) -> usize {
        self.0.0.load(Ordering::SeqCst)
    }
}

/// What is ready at once.
fn now<F: Future>(future: F) -> F::Output {
    match Hand::default().poll(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("was to be ready at once"),
    }
}

fn keys(items: &[Item<&'static str, u32>]) -> Vec<&'static str> {
    let key = |item: &Item<&'static str, u32>| match item {
        Item::Key { key, .. } => *key,
        Item::Replace { .. } | Item::Resync => "*",
    };
    items.iter().map(key).collect()
}

#[test]
fn an_add_wakes_a_waiting_consumer() {
    let (producer, consumer) = ends(10);
    let hand = Hand::default();
    let mut next = pin!(consumer.next(n(10)));
    assert!(hand.poll(next.as_mut()).is_pending());
    now(producer.add("a", 1, 1)).expect("open");
    assert_eq!(hand.rung(), 1);
    let Poll::Ready(Some(lease)) = hand.poll(next.as_mut()) else {
        panic!("woken for nothing")
    };
    assert_eq!(keys(lease.items()), ["a"]);
    lease.ack();
    assert_eq!(producer.progress().applied, Some(1));
}

/// QU-04, QU-07, FQ-10; scenario of client-go `Test*FIFO_PopShouldUnblockWhenClosed`.
#[test]
fn close_wakes_all_who_wait() {
    let (producer, consumer) = ends(1);
    let hands: Vec<Hand> = (0..10).map(|_| Hand::default()).collect();
    let mut waiting: Vec<_> = hands
        .iter()
        .map(|_| Box::pin(consumer.next(n(1))))
        .collect();
    for (hand, next) in hands.iter().zip(&mut waiting) {
        assert!(hand.poll(next.as_mut()).is_pending());
    }
    producer.close();
    for (hand, next) in hands.iter().zip(&mut waiting) {
        assert_eq!(hand.rung(), 1);
        assert!(matches!(hand.poll(next.as_mut()), Poll::Ready(None)));
    }
    assert_eq!(now(consumer.wait_synced()), Err(NeverSynced));
}

/// FQ-10: drains what it holds, also what is leased, then ends.
#[test]
fn close_drains_and_then_ends() {
    let (producer, consumer) = ends(10);
    now(producer.replace(vec![("a", 1)], 1, || ())).expect("open");
    now(producer.add("b", 1, 2)).expect("open");
    producer.close();
    assert_eq!(
        now(producer.add("c", 7, 3)).map_err(|Closed(back)| back),
        Err(7)
    );
    let first = now(consumer.next(n(10))).expect("not drained");
    let hand = Hand::default();
    let mut next = pin!(consumer.next(n(10)));
    assert!(hand.poll(next.as_mut()).is_pending(), "a lease is out");
    first.ack();
    assert_eq!(hand.rung(), 1);
    let Poll::Ready(Some(second)) = hand.poll(next.as_mut()) else {
        panic!("b waits")
    };
    let mut last = pin!(consumer.next(n(10)));
    assert!(
        hand.poll(last.as_mut()).is_pending(),
        "b may still come back"
    );
    second.ack();
    assert!(matches!(hand.poll(last.as_mut()), Poll::Ready(None)));
    assert_eq!(now(consumer.wait_synced()), Ok(()));
}

/// FQ-13: what is leased counts; an acknowledgement makes room and wakes the producer.
#[test]
fn the_bound_makes_the_producer_wait() {
    let (producer, consumer) = ends(2);
    now(producer.add("a", 1, 1)).expect("open");
    now(producer.update("a", 2, 2)).expect("open");
    let hand = Hand::default();
    let mut third = pin!(producer.update("a", 3, 3));
    assert!(hand.poll(third.as_mut()).is_pending());
    let lease = now(consumer.next(n(10))).expect("a waits");
    assert!(hand.poll(third.as_mut()).is_pending(), "leased is not done");
    assert_eq!(
        producer.progress().received,
        Some(2),
        "a producer that waits has said nothing yet"
    );
    lease.ack();
    assert_eq!(hand.rung(), 1);
    assert!(matches!(hand.poll(third.as_mut()), Poll::Ready(Ok(()))));
    assert_eq!(
        (producer.progress().received, producer.progress().unsettled),
        (Some(3), 1)
    );
}

/// FQ-13: a relist counts one towards the bound, however large it is.
#[test]
fn a_relist_counts_one_and_a_bookmark_never_waits() {
    let (producer, _consumer) = ends(2);
    let known: BTreeMap<_, _> = [("x", 1), ("y", 1)].into();
    now(producer.replace(vec![("a", 1), ("b", 1), ("c", 1)], 1, || &known)).expect("open");
    assert_eq!(producer.progress().unsettled, 1);
    now(producer.add("d", 1, 2)).expect("one place is left");
    assert!(
        Hand::default()
            .poll(pin!(producer.resync(|| ())))
            .is_pending()
    );
    now(producer.bookmark(3)).expect("needs no room");
    assert_eq!(producer.progress().received, Some(3));
}

#[test]
fn a_cancelled_producer_has_queued_nothing_and_leaves_no_waiter() {
    let (producer, consumer) = ends(1);
    now(producer.add("a", 1, 1)).expect("open");
    let hand = Hand::default();
    {
        let mut waits = pin!(producer.add("b", 1, 2));
        assert!(hand.poll(waits.as_mut()).is_pending());
    }
    now(consumer.next(n(1))).expect("a waits").ack();
    assert_eq!(hand.rung(), 0, "who is gone is not woken");
    assert_eq!(
        (producer.progress().unsettled, producer.progress().received),
        (0, Some(1))
    );
}

#[test]
fn a_cancelled_consumer_has_taken_nothing() {
    let (producer, consumer) = ends(1);
    let hand = Hand::default();
    {
        let mut waits = pin!(consumer.next(n(1)));
        assert!(hand.poll(waits.as_mut()).is_pending());
    }
    now(producer.add("a", 1, 1)).expect("open");
    assert_eq!(hand.rung(), 0);
    let lease = now(consumer.next(n(1))).expect("a waits");
    assert_eq!(keys(lease.items()), ["a"]);
    lease.ack();
}

/// FQ-11: a guard that is dropped gives everything back, in order, and wakes who waits for it.
#[test]
fn a_dropped_guard_gives_everything_back() {
    let (producer, consumer) = ends(10);
    now(producer.add("a", 1, 1)).expect("open");
    now(producer.add("b", 1, 2)).expect("open");
    let lease = now(consumer.next(n(10))).expect("two wait");
    let hand = Hand::default();
    let mut next = pin!(consumer.next(n(10)));
    assert!(hand.poll(next.as_mut()).is_pending());
    drop(lease);
    assert_eq!(hand.rung(), 1);
    let Poll::Ready(Some(again)) = hand.poll(next.as_mut()) else {
        panic!("given back")
    };
    assert_eq!(
        keys(again.items()),
        ["a"],
        "what failed before is handed out alone"
    );
    again.ack();
    let again = now(consumer.next(n(10))).expect("given back, too");
    assert_eq!(keys(again.items()), ["b"]);
    again.ack();
    assert_eq!(producer.progress().applied, Some(2));
}

/// FQ-11: a panic while processing neither loses later changes nor wedges the queue, and only
/// the culprit is quarantined.
#[test]
fn a_poison_item_is_quarantined_alone() {
    let config = Config::default().max_attempts(NonZeroU32::new(3).expect("not zero"));
    let (producer, consumer) = channel(DeltaFifo::<&str, u32, u64>::new(config), n(10));
    for (key, position) in [("a", 1), ("bad", 2), ("c", 3)] {
        now(producer.add(key, 1, position)).expect("open");
    }
    producer.close();
    let mut applied = Vec::new();
    while let Some(lease) = now(consumer.next(n(10))) {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let keys = keys(lease.items());
            if keys.contains(&"bad") {
                std::panic::resume_unwind(Box::new("bad"));
            }
            lease.ack();
            keys
        }));
        applied.extend(outcome.unwrap_or_default());
    }
    assert_eq!(applied, ["a", "c"]);
    let abandoned = consumer.take_abandoned();
    assert_eq!(abandoned.len(), 1);
    assert_eq!(abandoned[0].attempts.get(), 3);
    assert!(matches!(abandoned[0].item, Item::Key { key: "bad", .. }));
    assert_eq!(producer.progress().applied, Some(3));
}

#[test]
fn a_nack_returns_what_was_tried_often_enough() {
    let config = Config::default().max_attempts(NonZeroU32::MIN);
    let (producer, consumer) = channel(InOrderQueue::<&str, u32, u64>::new(config), n(10));
    now(producer.add("a", 1, 1)).expect("open");
    now(producer.add("b", 1, 2)).expect("open");
    let quarantined = now(consumer.next(n(10))).expect("two wait").nack(&[1]);
    assert_eq!(quarantined.len(), 1);
    assert!(producer.progress().unsettled == 0);
}

#[test]
#[should_panic(expected = "beyond 1 items")]
fn a_nack_of_a_position_that_is_not_there_panics() {
    let (producer, consumer) = ends(10);
    now(producer.add("a", 1, 1)).expect("open");
    now(consumer.next(n(1))).expect("a waits").nack(&[1]);
}

#[test]
fn the_last_producer_closes_and_so_does_the_consumer() {
    let (producer, consumer) = ends(10);
    let other = producer.clone();
    drop(producer);
    now(other.add("a", 1, 1)).expect("one producer lives");
    drop(other);
    now(consumer.next(n(1))).expect("drains").ack();
    assert!(now(consumer.next(n(1))).is_none());

    let (producer, consumer) = ends(1);
    now(producer.replace(vec![("a", 1)], 1, || ())).expect("open");
    let hand = Hand::default();
    let mut waits = pin!(producer.add("b", 2, 2));
    assert!(hand.poll(waits.as_mut()).is_pending());
    drop(consumer);
    assert_eq!(hand.rung(), 1);
    assert!(matches!(
        hand.poll(waits.as_mut()),
        Poll::Ready(Err(Closed(2)))
    ));
    assert_eq!(now(producer.observer().wait_synced()), Err(NeverSynced));
}

/// A guard outlives its consumer: what it settles counts.
#[test]
fn a_lease_can_be_settled_after_the_consumer_is_gone() {
    let (producer, consumer) = ends(10);
    now(producer.replace(vec![("a", 1)], 1, || ())).expect("open");
    let lease = now(consumer.next(n(1))).expect("a waits");
    drop(consumer);
    let observer = producer.observer();
    let mut synced = pin!(observer.wait_synced());
    let hand = Hand::default();
    assert!(hand.poll(synced.as_mut()).is_pending());
    lease.ack();
    assert_eq!(hand.poll(synced.as_mut()), Poll::Ready(Ok(())));
}

/// FQ-9: waiting for the initial population ends with its acknowledgement.
#[test]
fn synced_is_told_on_acknowledgement() {
    let (producer, consumer) = ends(10);
    let observer = producer.observer();
    let hand = Hand::default();
    let mut synced = pin!(observer.wait_synced());
    now(producer.replace(vec![("a", 1)], 1, || ())).expect("open");
    assert!(hand.poll(synced.as_mut()).is_pending());
    let lease = now(consumer.next(n(1))).expect("a waits");
    assert!(lease.initial);
    assert!(
        hand.poll(synced.as_mut()).is_pending(),
        "taken is not processed"
    );
    lease.ack();
    assert_eq!(hand.poll(synced.as_mut()), Poll::Ready(Ok(())));
}

/// A bookmark that finds nothing pending moves what is applied without any lease.
#[test]
fn a_watcher_is_told_of_every_change() {
    let (producer, consumer) = ends(10);
    let mut observer = consumer.observer();
    let hand = Hand::default();
    assert!(hand.poll(pin!(observer.changed())).is_pending());
    now(producer.bookmark(5)).expect("open");
    assert_eq!(hand.rung(), 0, "the future that waited is gone");
    assert_eq!(now(observer.changed()).expect("open").applied, Some(5));
    let deletion = now(producer.delete("x", Final::Observed(1), 6, || ()));
    assert_eq!(deletion.expect("open"), Deletion::Ignored);
    let progress = now(observer.changed()).expect("open");
    assert_eq!((progress.applied, progress.unsettled), (Some(6), 0));
    producer.close();
    assert!(now(observer.changed()).expect("the closing is told").closed);
    assert_eq!(now(observer.changed()), None);
}

/// Both queues have the same ends, so the choice can be made at run time.
#[test]
fn the_ends_of_both_queues_have_one_type() {
    for in_order in [false, true] {
        let (producer, consumer) = if in_order {
            channel(InOrderQueue::<&str, u32, u64>::default(), n(10))
        } else {
            channel(DeltaFifo::default(), n(10))
        };
        now(producer.replace(vec![("a", 1)], 1, || ())).expect("open");
        let lease = now(consumer.next(n(1))).expect("a relist waits");
        assert_eq!(keys(lease.items()), if in_order { ["*"] } else { ["a"] });
        lease.ack();
    }
}

/// FQ-3, FQ-11: what joined a key between two attempts is not given up with what failed before it.
#[test]
fn what_came_later_outlives_what_failed() {
    let mut queue: DeltaFifo<&str, u32, u64> = DeltaFifo::default();
    queue.update("k", 1, 1).expect("open");
    for _ in 0..4 {
        let lease = queue.lease(NonZeroUsize::MIN).expect("it waits");
        assert!(queue.nack(lease.id, &[0]).expect("it is out").is_empty());
    }
    queue.update("k", 2, 2).expect("open");
    let lease = queue.lease(NonZeroUsize::MIN).expect("it waits");
    let given_up = queue.nack(lease.id, &[0]).expect("it is out");
    assert_eq!(given_up.len(), 1);
    let lease = queue
        .lease(NonZeroUsize::MIN)
        .expect("the later change waits");
    assert!(matches!(&lease.items[0], Item::Key { deltas, .. } if deltas.len() == 1));
    queue.ack(lease.id).expect("it is out");
    assert_eq!(queue.applied(), Some(&2));
}

/// FM-53: one culprit in a relist is given up alone, and the others are done.
#[test]
fn a_poison_item_of_a_relist_is_quarantined_alone() {
    let mut queue: DeltaFifo<&str, u32, u64> = DeltaFifo::default();
    let items = vec![("a", 1), ("bad", 2), ("c", 3)];
    queue.replace(items, 1, &()).expect("open");
    let (mut given_up, mut done) = (Vec::new(), Vec::new());
    while let Some(lease) = queue.lease(NonZeroUsize::MIN.saturating_add(9)) {
        let key = |item: &Item<&'static str, u32>| match item {
            Item::Key { key, .. } => *key,
            _ => unreachable!("this queue hands out keys"),
        };
        let keys: Vec<_> = lease.items.iter().map(key).collect();
        if keys.contains(&"bad") {
            // As a consumer that panics would: nothing of the lease is done.
            let all: Vec<_> = (0..keys.len()).collect();
            let gone = queue.nack(lease.id, &all).expect("it is out");
            given_up.extend(gone.iter().map(|quarantined| key(&quarantined.item)));
        } else {
            queue.ack(lease.id).expect("it is out");
            done.extend(keys);
        }
    }
    assert_eq!((given_up, done), (vec!["bad"], vec!["a", "c"]));
    assert!(queue.is_synced());
}
