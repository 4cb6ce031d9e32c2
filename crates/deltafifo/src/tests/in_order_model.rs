//! RealFIFO, atomic half, naively: one list of items.

use super::model::{Calls, Handed, Key, Model, Position, Store, TestItem, Value, distinct};
use crate::{Deletion, Delta, Deltas, Final, Item};

#[derive(Clone)]
struct Waiting {
    seq: usize,
    item: TestItem,
    attempts: u32,
}

#[derive(Clone, Default)]
pub(super) struct InOrderModel {
    pending: Vec<Waiting>,
    leased: Option<Vec<Waiting>>,
    calls: Calls,
    populated: bool,
    first: Option<usize>,
    max_attempts: u32,
}

impl InOrderModel {
    fn open(&self) -> impl Iterator<Item = usize> {
        self.leased
            .iter()
            .flatten()
            .chain(&self.pending)
            .map(|waiting| waiting.seq)
    }

    fn put(&mut self, item: TestItem, position: Option<Position>) -> usize {
        let seq = self.calls.next(position);
        self.pending.push(Waiting {
            seq,
            item,
            attempts: 0,
        });
        seq
    }

    /// RF-05.
    fn batch(&self, max: usize) -> usize {
        let mut keys = Vec::new();
        for waiting in self.pending.iter().take(max) {
            match waiting.item {
                Item::Key { key, .. } if waiting.attempts == 0 && !keys.contains(&key) => {
                    keys.push(key);
                }
                _ => break,
            }
        }
        keys.len().max(1)
    }
}

impl Model for InOrderModel {
    fn limit(&mut self, max_attempts: u32) {
        self.max_attempts = max_attempts;
    }

    fn single(&mut self, key: Key, delta: Delta<Value>, position: Position) {
        self.populated = true;
        self.put(
            Item::Key {
                key,
                deltas: Deltas::new(delta),
            },
            Some(position),
        );
    }

    fn delete(&mut self, key: Key, last: Final<Value>, position: Position, _: &Store) -> Deletion {
        self.single(key, Delta::Deleted(last), position);
        Deletion::Queued
    }

    fn replace(&mut self, items: &[(Key, Value)], position: Position, _: &Store) {
        let seq = self.put(
            Item::Replace {
                items: distinct(items),
            },
            Some(position),
        );
        if !self.populated {
            self.populated = true;
            self.first = Some(seq);
        }
    }

    fn resync(&mut self, _: &Store) {
        self.put(Item::Resync, None);
    }

    fn bookmark(&mut self, position: Position) {
        self.calls.next(Some(position));
    }

    fn lease(&mut self, max: usize) -> Option<Handed> {
        if self.leased.is_some() || self.pending.is_empty() {
            return None;
        }
        let rest = self.pending.split_off(self.batch(max));
        let leased = std::mem::replace(&mut self.pending, rest);
        let handed = Handed {
            initial: !self.synced(),
            items: leased.iter().map(|waiting| waiting.item.clone()).collect(),
            position: leased
                .iter()
                .map(|waiting| waiting.seq)
                .max()
                .and_then(|seq| self.calls.received(seq)),
            applied_after: self
                .calls
                .applied(self.pending.iter().map(|waiting| waiting.seq)),
        };
        self.leased = Some(leased);
        Some(handed)
    }

    fn settle(&mut self, failed: &[usize]) -> Vec<(TestItem, u32)> {
        let (mut again, mut quarantined) = (Vec::new(), Vec::new());
        for (at, mut waiting) in self.leased.take().into_iter().flatten().enumerate() {
            waiting.attempts += 1;
            match failed.contains(&at) {
                true if waiting.attempts < self.max_attempts => again.push(waiting),
                true => quarantined.push((waiting.item, waiting.attempts)),
                false => {}
            }
        }
        again.append(&mut self.pending);
        self.pending = again;
        if self
            .first
            .is_some_and(|first| !self.open().any(|seq| seq == first))
        {
            self.first = None;
        }
        quarantined
    }

    fn applied(&self) -> Option<Position> {
        self.calls.applied(self.open())
    }

    fn received(&self) -> Option<Position> {
        self.calls.last()
    }

    fn synced(&self) -> bool {
        self.populated && self.first.is_none()
    }

    fn len(&self) -> usize {
        self.open().count()
    }

    fn outstanding(&self) -> Vec<TestItem> {
        self.leased
            .iter()
            .flatten()
            .chain(&self.pending)
            .map(|waiting| waiting.item.clone())
            .collect()
    }
}
