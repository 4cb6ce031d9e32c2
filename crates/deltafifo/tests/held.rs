//! What a relist leaves out when the consumer says what it holds (`Known::holds`).

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use informer_deltafifo::{Config, Delta, DeltaFifo, Final, Item, Known, Queue};

/// Holds objects and can tell equal ones.
struct Store(BTreeMap<&'static str, u32>);

impl Known<&'static str, u32> for Store {
    fn get(&self, key: &&'static str) -> Option<u32> {
        self.0.get(key).copied()
    }

    fn for_each(&self, visit: &mut dyn FnMut(&&'static str, &u32)) {
        self.0.iter().for_each(|(key, value)| visit(key, value));
    }

    fn holds(&self, key: &&'static str, value: &u32) -> bool {
        self.0.get(key) == Some(value)
    }
}

type Fifo = DeltaFifo<&'static str, u32, u64>;

fn synced() -> Fifo {
    let mut queue = Fifo::new(Config::default());
    queue.replace(Vec::new(), 1, &()).expect("open");
    assert!(queue.is_synced());
    queue
}

fn leased(queue: &mut Fifo) -> Vec<(&'static str, Vec<Delta<u32>>)> {
    let Some(lease) = queue.lease(NonZeroUsize::MAX) else {
        return Vec::new();
    };
    queue.ack(lease.id).expect("leased");
    let each = lease.items.iter().map(|item| match item {
        Item::Key { key, deltas } => (*key, deltas.iter().cloned().collect()),
        Item::Replace { .. } | Item::Resync => unreachable!("keys only"),
    });
    each.collect()
}

#[test]
fn what_is_held_is_left_out_and_what_is_missing_is_not() {
    let (mut queue, store) = (synced(), Store([("a", 1), ("b", 1), ("c", 1)].into()));
    queue
        .replace(vec![("a", 1), ("b", 2)], 7, &store)
        .expect("open");
    let gone = Delta::Deleted(Final::Unknown(Some(1)));
    let expected = vec![("b", vec![Delta::Replaced(2)]), ("c", vec![gone])];
    assert_eq!(leased(&mut queue), expected);
    assert_eq!(queue.applied(), Some(&7));
}

#[test]
fn a_relist_that_changes_nothing_is_applied_at_once() {
    let (mut queue, store) = (synced(), Store([("a", 1), ("b", 1)].into()));
    queue
        .replace(vec![("a", 1), ("b", 1)], 7, &store)
        .expect("open");
    assert!(queue.is_empty() && queue.lease(NonZeroUsize::MIN).is_none());
    assert_eq!(queue.applied(), Some(&7));
}

#[test]
fn what_waits_or_is_leased_is_told_though_it_is_held() {
    let (mut queue, store) = (synced(), Store([("a", 1), ("b", 1)].into()));
    queue.update("a", 2, 5).expect("open");
    let lease = queue.lease(NonZeroUsize::MIN).expect("a waits");
    queue.update("b", 2, 6).expect("open");
    queue
        .replace(vec![("a", 1), ("b", 1)], 7, &store)
        .expect("open");
    queue.ack(lease.id).expect("leased");
    let b = vec![Delta::Updated(2), Delta::Replaced(1)];
    let expected = vec![("b", b), ("a", vec![Delta::Replaced(1)])];
    assert_eq!(leased(&mut queue), expected);
}

/// FQ-5: in whatever order and however often the rest is listed.
#[test]
fn of_many_that_are_held_the_missing_one_is_told() {
    let names: Vec<&'static str> = (0..500)
        .map(|number| &*format!("pod-{number}").leak())
        .collect();
    let store = Store(names.iter().map(|name| (*name, 1)).collect());
    for missing in [0, 250, 499] {
        let mut queue = synced();
        let there = names.iter().filter(|name| **name != names[missing]);
        let listed = there.clone().rev().chain(there.step_by(7));
        queue
            .replace(listed.map(|name| (*name, 1)).collect(), 7, &store)
            .expect("open");
        let gone = vec![Delta::Deleted(Final::Unknown(Some(1)))];
        assert_eq!(leased(&mut queue), [(names[missing], gone)]);
    }
}

#[test]
fn of_a_key_that_is_listed_twice_the_last_object_counts() {
    let (mut queue, store) = (synced(), Store([("a", 1)].into()));
    queue
        .replace(vec![("a", 1), ("a", 2)], 7, &store)
        .expect("open");
    assert_eq!(leased(&mut queue), [("a", vec![Delta::Replaced(2)])]);
    queue
        .replace(vec![("a", 2), ("a", 1)], 8, &store)
        .expect("open");
    assert_eq!(leased(&mut queue), [("a", vec![Delta::Replaced(1)])]);
}
