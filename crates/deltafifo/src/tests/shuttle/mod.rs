//! What holds whichever way the ends of a queue take turns (T8).
//!
//! Built by `cargo xtask shuttle` only. Each scenario runs under many schedules: threads switch at
//! the lock of the shell, by priorities that change at random points (PCT). A hang is a failure
//! too.

mod closing;
mod filling;
mod planted;
mod settling;

use std::num::NonZeroUsize;
use std::sync::Arc;

use shuttle::future::block_on;
use shuttle::scheduler::PctScheduler;
use shuttle::thread::{self, JoinHandle};
use shuttle::{Config, FailurePersistence, Runner};

use crate::{Consumer, InOrderQueue, Item, Producer, channel};

/// How often a schedule changes priorities: enough for bugs of this many ordered steps.
const DEPTH: usize = 3;

/// The same schedules in each run, so that a run that passed passes again.
const SEED: u64 = 5;

fn config(persistence: FailurePersistence) -> Config {
    let mut config = Config::new();
    config.stack_size = 0x4_0000;
    config.failure_persistence = persistence;
    config
}

/// Runs a scenario under `SCHEDULES` schedules of the seed `SEED`, or under the one in the file
/// `SCHEDULE`.
fn explore(scenario: fn()) {
    if let Ok(file) = std::env::var("SCHEDULE") {
        return shuttle::replay_from_file(scenario, file);
    }
    let iterations = std::env::var("SCHEDULES").map_or(10_000, |count| {
        count.parse().expect("SCHEDULES is a number of schedules")
    });
    let seed = std::env::var("SEED").map_or(SEED, |seed| seed.parse().expect("SEED is a number"));
    let kept = FailurePersistence::File(Some(std::env::temp_dir()));
    let scheduler = PctScheduler::new_from_seed(seed, DEPTH, iterations);
    Runner::new(scheduler, config(kept)).run(scenario);
}

type Filling = Producer<u8, u64, u64>;
type Draining = Consumer<u8, u64, u64>;

/// A queue that keeps the order of all changes, and holds `bound` of them.
fn ends(bound: usize) -> (Filling, Draining) {
    channel(InOrderQueue::new(crate::Config::default()), n(bound))
}

fn n(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("not zero")
}

/// Adds `objects` under a key; how many were taken before the queue closed.
fn filler(producer: Filling, key: u8, objects: u64) -> JoinHandle<u64> {
    thread::spawn(move || {
        let add = |object| block_on(producer.add(key, object, object)).is_ok();
        (0..objects).take_while(|object| add(*object)).count() as u64
    })
}

/// What was drained: each key with its object, in order.
type Drained = Vec<(u8, u64)>;

/// Takes, and settles, until the queue has ended.
fn drain(consumer: &Draining, at_once: usize) -> Drained {
    let mut drained = Drained::new();
    while let Some(lease) = block_on(consumer.next(n(at_once))) {
        drained.extend(objects(lease.items()));
        lease.ack();
    }
    drained
}

fn objects(items: &[Item<u8, u64>]) -> Drained {
    let of = |item: &Item<u8, u64>| match item {
        Item::Key { key, deltas } => deltas
            .iter()
            .filter_map(|delta| delta.object())
            .map(|object| (*key, *object))
            .collect(),
        Item::Replace { items } => items.clone(),
        Item::Resync => Drained::new(),
    };
    items.iter().flat_map(of).collect()
}

/// Whether what was drained of a key is the first `count` of its objects, in order.
fn is_whole(drained: &Drained, key: u8, count: u64) -> bool {
    let of = drained.iter().filter(|(other, _)| *other == key);
    of.map(|(_, object)| *object).eq(0..count)
}

/// A queue under observation: both ends in the hands of a scenario.
fn shared(consumer: Draining) -> Arc<Draining> {
    Arc::new(consumer)
}
