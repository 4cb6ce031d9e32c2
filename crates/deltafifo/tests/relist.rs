//! A relist is one group, and one that fails half way has not begun (DF-14).

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use informer_deltafifo::{Config, DeltaFifo, Final, Item, Known, Queue};

type Fifo = DeltaFifo<&'static str, u32, u64>;

fn key<'w>(item: &'w Item<&'static str, u32>) -> &'w str {
    match item {
        Item::Key { key, .. } => key,
        Item::Replace { .. } | Item::Resync => unreachable!("keys only"),
    }
}

fn held() -> BTreeMap<&'static str, u32> {
    [("a", 1), ("b", 1)].into()
}

/// "b" changes, "a" is deleted, and a relist has "b" alone.
fn deleted_then_relisted() -> Fifo {
    let mut queue = Fifo::default();
    queue.update("b", 2, 1).expect("open");
    queue
        .delete("a", Final::Observed(1), 2, &held())
        .expect("open");
    queue.replace(vec![("b", 3)], 3, &held()).expect("open");
    queue
}

/// With the deletion left behind, a reader sees "b" of the list beside "a", which the
/// server never had together.
#[test]
fn deletion_pending_before_a_relist_is_leased_with_it() {
    let mut queue = deleted_then_relisted();
    let lease = queue.lease(NonZeroUsize::MIN).expect("keys are pending");
    let keys: Vec<&str> = lease.items.iter().map(key).collect();
    assert_eq!(keys, ["b", "a"]);
}

/// The tie survives a failure: what comes back is still one group.
#[test]
fn deletion_of_a_relist_that_failed_is_leased_with_it_again() {
    let mut queue = deleted_then_relisted();
    let lease = queue.lease(NonZeroUsize::MIN).expect("keys are pending");
    queue.nack(lease.id, &[0, 1]).expect("leased");
    let lease = queue.lease(NonZeroUsize::MIN).expect("keys are pending");
    assert_eq!(lease.items.len(), 2);
}

/// Nothing is received, pending or synced after a relist whose transform panicked.
#[test]
fn panic_of_the_transform_in_a_relist_leaves_the_queue_as_it_was() {
    // Not by `panic!`, whose hook would write to standard error.
    let transform = |value| match value {
        13 => resume_unwind(Box::new("a transform that panics")),
        value => Ok(value),
    };
    let mut queue = Fifo::new(Config::default().transform(transform));
    let relist = |queue: &mut Fifo, second, position| {
        let items = vec![("a", 1), ("b", second), ("c", 1)];
        catch_unwind(AssertUnwindSafe(|| queue.replace(items, position, &())))
    };
    assert!(relist(&mut queue, 13, 7).is_err());
    assert_eq!((queue.received(), queue.applied()), (None, None));
    assert!(queue.is_empty() && !queue.is_synced());
    let replaced = relist(&mut queue, 2, 8).expect("no object panics");
    replaced.expect("open");
    let lease = queue.lease(NonZeroUsize::MIN).expect("keys are pending");
    assert!(lease.initial && lease.items.len() == 3);
}

/// Panics when its keys are visited.
struct Broken;

impl Known<&'static str, u32> for Broken {
    fn get(&self, _: &&'static str) -> Option<u32> {
        None
    }

    fn for_each(&self, visit: &mut dyn FnMut(&&'static str, &u32)) {
        visit(&"x", &1);
        resume_unwind(Box::new("a snapshot that panics"));
    }
}

#[test]
fn panic_of_the_known_state_leaves_the_queue_as_it_was() {
    let mut queue = Fifo::default();
    queue.add("a", 1, 1).expect("open");
    let replaced = catch_unwind(AssertUnwindSafe(|| {
        queue.replace(vec![("b", 2)], 2, &Broken)
    }));
    assert!(replaced.is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| queue.resync(&Broken))).is_err());
    assert_eq!((queue.received(), queue.len()), (Some(&1), 1));
    let lease = queue.lease(NonZeroUsize::MAX).expect("one key is pending");
    assert_eq!(lease.items.iter().map(key).collect::<Vec<_>>(), ["a"]);
}
