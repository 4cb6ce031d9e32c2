//! User code runs neither under a listener's lock nor longer than a poll may take.

use std::future::Future;
use std::hash::{Hash, Hasher};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use crate::backlog::batch::Batch;
use crate::backlog::in_flight::InFlight;
use crate::delivery::Delivery;
use crate::delivery::consumer::Consumer;
use crate::listener::ConsumerKind;
use crate::listener::resync::negotiate;
use crate::listener::state::{ListenerState, Taken};
use crate::tests::rig::{GROW, a_moment};
use crate::{
    Added, Cause, Deleted, Handler, ListenerConfig, Notification, Overflow, Processor,
    ProcessorConfig, Replay, Updated, async_fn, handler_fn,
};

/// A key that counts its drops.
#[derive(Clone, Debug)]
struct Counted(u8, Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// Everything that a step of a listener leaves over leaves the step, and so the lock.
#[test]
fn no_step_of_a_listener_drops_a_key() {
    let drops = Arc::new(AtomicUsize::new(0));
    let key = |number| Counted(number, Arc::clone(&drops));
    let added = |number| Notification::Added(Added::new(key(number), Arc::new(())));
    let gone = |number| {
        let key = key(number);
        Notification::Deleted(Deleted::Unknown { key, last: None })
    };
    let period = Some(Duration::from_secs(1));
    let terms = negotiate(period, period, true).terms;
    let mut listener = ListenerState::new(Overflow::Coalesce, terms, a_moment());
    let mut displaced = Vec::new();
    let begun = listener.begin(0, Replay::empty(), 0, &mut displaced);

    let news: Vec<_> = [added(1), added(2)].map(Arc::new).into();
    let first = Batch::split(&news);
    assert!(
        listener
            .push((1, first.as_slice()), 0, 0, &mut displaced)
            .is_none()
    );
    let refused = listener.push_resync(Replay::new([added(2)]), 0);
    assert!(refused.is_none());
    // The addition of 1 is annihilated: the resync remembers the key.
    let ends: Vec<_> = [gone(1)].map(Arc::new).into();
    let second = Batch::split(&ends);
    assert!(
        listener
            .push((2, second.as_slice()), 0, 0, &mut displaced)
            .is_none()
    );
    let mut out = InFlight::default();
    let taken = listener.take(1, &mut out);
    assert!(matches!(taken, Taken::Replay(_)));
    let vanished = listener.replay_ended();
    let leftover = listener.end();
    assert_eq!(drops.load(Ordering::Relaxed), 0);

    drop((begun, news, first, ends, second, displaced, taken, out));
    assert!(vanished.is_some());
    drop((vanished, leftover));
    // Two additions, a deletion, the item of the resync, and the remembered key.
    assert_eq!(drops.load(Ordering::Relaxed), 5);
}

/// The number of items that a poll may handle.
const BOUND: usize = 4_096;

/// The number of items of a long list.
const MANY: usize = 150_000;

fn initial(key: usize) -> Notification<usize, ()> {
    Notification::Added(Added::new(key, Arc::new(())).initial(true))
}

/// Polls `delivery` until `count` has reached `all`. Returns the largest number of items of a poll.
async fn most_in_a_poll(
    delivery: impl Future<Output = ()>,
    count: &AtomicUsize,
    all: usize,
) -> usize {
    let (mut delivery, mut most) = (pin!(delivery), 0);
    std::future::poll_fn(|cx| {
        let before = count.load(Ordering::Relaxed);
        assert!(delivery.as_mut().poll(cx).is_pending(), "it never ends");
        let after = count.load(Ordering::Relaxed);
        most = most.max(after - before);
        match after == all {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    most
}

struct Rig {
    processor: Processor<usize, ()>,
    count: Arc<AtomicUsize>,
}

impl Rig {
    /// Gives a listener a replay and a backlog, each of `MANY` items.
    fn fill(&self, consumer: &Consumer<usize, ()>) {
        let replay = Replay::new((0..MANY).map(initial));
        consumer.listener().begin(0, replay);
        let batch: Vec<_> = (MANY..2 * MANY).map(|key| Arc::new(initial(key))).collect();
        self.processor.distribute(1, &batch);
    }

    fn new() -> Self {
        let config = ProcessorConfig::default().check_period(Duration::from_secs(1));
        Self {
            processor: Processor::new(config),
            count: Arc::default(),
        }
    }

    fn delivery<H>(&self, handler: H, overflow: Overflow) -> Delivery<H, usize, ()> {
        let config = ListenerConfig::named("bounded").overflow(overflow);
        let config = config.resync(Duration::from_secs(1));
        let registered = self
            .processor
            .registry
            .register(config, "", ConsumerKind::Driven);
        Delivery {
            handler,
            consumer: Consumer::new(registered.expect("running")),
        }
    }

    fn counting(&self) -> impl Handler<usize, ()> + use<> {
        let count = Arc::clone(&self.count);
        handler_fn(move |_: &Notification<usize, ()>| {
            count.fetch_add(1, Ordering::Relaxed);
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_handles_a_bounded_number_of_items_of_a_replay_and_of_a_backlog() {
    for overflow in [GROW, Overflow::Coalesce] {
        let rig = Rig::new();
        let delivery = rig.delivery(rig.counting(), overflow);
        rig.fill(&delivery.consumer);
        let most = most_in_a_poll(Delivery::run(delivery), &rig.count, 2 * MANY).await;
        assert!((1..=BOUND).contains(&most), "{most} in a poll");
    }
}

#[tokio::test(start_paused = true)]
async fn a_poll_of_an_asynchronous_handler_handles_a_bounded_number_of_items() {
    let rig = Rig::new();
    let count = Arc::clone(&rig.count);
    let handler = async_fn(move |_: Arc<Notification<usize, ()>>| {
        count.fetch_add(1, Ordering::Relaxed);
        std::future::ready(())
    });
    let delivery = rig.delivery(handler, GROW);
    rig.fill(&delivery.consumer);
    let most = most_in_a_poll(Delivery::run_async(delivery), &rig.count, 2 * MANY).await;
    assert!((1..=BOUND).contains(&most), "{most} in a poll");
}

/// The items of a resync that newer notifications overtake are skipped, which takes time too.
#[tokio::test(start_paused = true)]
async fn a_poll_skips_a_bounded_number_of_items_of_a_resync() {
    let rig = Rig::new();
    let handler = handler_fn(|_: &Notification<usize, ()>| {});
    let delivery = rig.delivery(handler, Overflow::Coalesce);
    let listener = Arc::clone(delivery.consumer.listener());
    listener.begin(0, Replay::empty());
    let batch: Vec<_> = (0..MANY).map(|key| Arc::new(initial(key))).collect();
    rig.processor.distribute(1, &batch);
    let later = crate::sync::now() + Duration::from_secs(1);
    rig.processor.distribute_resync(1, later, || {
        let count = Arc::clone(&rig.count);
        Replay::new((0..MANY).map(move |key| {
            count.fetch_add(1, Ordering::Relaxed);
            Notification::Updated(Updated::new(key, Arc::new(()), Arc::new(()), Cause::Resync))
        }))
    });
    let most = most_in_a_poll(Delivery::run(delivery), &rig.count, MANY).await;
    assert!((1..=BOUND).contains(&most), "{most} in a poll");
    assert_eq!(listener.status(crate::sync::now()).coalesced, MANY as u64);
}
