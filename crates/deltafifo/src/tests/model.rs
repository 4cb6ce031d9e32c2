//! What a model answers, and the store that a consumer fills from it.

use std::collections::BTreeMap;

use crate::{Deletion, Delta, Final, Item};

/// Two or three keys are enough for every interaction.
pub(super) type Key = u8;
/// Objects are told apart by a number that is used once.
pub(super) type Value = u32;
pub(super) type Position = u32;
/// What a consumer holds.
pub(super) type Store = BTreeMap<Key, Value>;
pub(super) type TestItem = Item<Key, Value>;

/// What is to be leased.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Handed {
    pub(super) initial: bool,
    pub(super) items: Vec<TestItem>,
    pub(super) position: Option<Position>,
    pub(super) applied_after: Option<Position>,
}

/// A naive queue.
pub(super) trait Model: Clone + Default {
    fn limit(&mut self, max_attempts: u32);
    fn single(&mut self, key: Key, delta: Delta<Value>, position: Position);
    fn delete(
        &mut self,
        key: Key,
        last: Final<Value>,
        position: Position,
        known: &Store,
    ) -> Deletion;
    fn replace(&mut self, items: &[(Key, Value)], position: Position, known: &Store);
    fn resync(&mut self, known: &Store);
    fn bookmark(&mut self, position: Position);
    fn lease(&mut self, max: usize) -> Option<Handed>;
    /// Settles the lease: what is quarantined, with the attempts made.
    fn settle(&mut self, failed: &[usize]) -> Vec<(TestItem, u32)>;
    fn applied(&self) -> Option<Position>;
    fn received(&self) -> Option<Position>;
    fn synced(&self) -> bool;
    fn len(&self) -> usize;
    /// Everything leased and pending, in the order in which it will be applied.
    fn outstanding(&self) -> Vec<TestItem>;
}

/// Every call that was made: its number is its place, from 1 on.
#[derive(Clone, Default)]
pub(super) struct Calls(Vec<Option<Position>>);

impl Calls {
    pub(super) fn next(&mut self, position: Option<Position>) -> usize {
        self.0.push(position);
        self.0.len()
    }

    /// What was received last.
    pub(super) fn last(&self) -> Option<Position> {
        self.received(self.0.len())
    }

    /// What had been received with call `seq`.
    pub(super) fn received(&self, seq: usize) -> Option<Position> {
        self.0[..seq].iter().rev().find_map(|position| *position)
    }

    /// The version received just before the first call that is open.
    pub(super) fn applied(&self, open: impl Iterator<Item = usize>) -> Option<Position> {
        self.received(open.min().map_or(self.0.len(), |first| first - 1))
    }
}

/// FQ-8: each key once, at the place of its first item, with the object of its last.
pub(super) fn distinct(items: &[(Key, Value)]) -> Vec<(Key, Value)> {
    let mut distinct: Vec<(Key, Value)> = Vec::new();
    for &(key, value) in items {
        match distinct.iter_mut().find(|(other, _)| *other == key) {
            Some(item) => item.1 = value,
            None => distinct.push((key, value)),
        }
    }
    distinct
}

/// Applies work as a consumer does: what the store holds decides, not the kind (PD-01, PD-06).
pub(super) fn apply(store: &mut Store, item: &TestItem) {
    match item {
        Item::Key { key, deltas } => {
            for delta in deltas.iter() {
                match delta {
                    Delta::Added(v) | Delta::Updated(v) | Delta::Replaced(v) | Delta::Sync(v) => {
                        store.insert(*key, *v);
                    }
                    Delta::Deleted(_) => {
                        store.remove(key);
                    }
                }
            }
        }
        Item::Replace { items } => *store = items.iter().copied().collect(),
        Item::Resync => {}
    }
}
