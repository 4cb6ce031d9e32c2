//! RealFIFO, atomic half, naively: one list of works.

use super::model::{Calls, Handed, Key, Mark, Model, Store, TestWork, Value, distinct};
use crate::{Deletion, Delta, Deltas, Final, Work};

#[derive(Clone)]
struct Item {
    seq: usize,
    work: TestWork,
    attempts: u32,
}

#[derive(Clone, Default)]
pub(super) struct InOrderModel {
    pending: Vec<Item>,
    leased: Option<Vec<Item>>,
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
            .map(|item| item.seq)
    }

    fn put(&mut self, work: TestWork, mark: Option<Mark>) -> usize {
        let seq = self.calls.next(mark);
        self.pending.push(Item {
            seq,
            work,
            attempts: 0,
        });
        seq
    }

    /// RF-05.
    fn batch(&self, max: usize) -> usize {
        let mut keys = Vec::new();
        for item in self.pending.iter().take(max) {
            match item.work {
                Work::Key { key, .. } if item.attempts == 0 && !keys.contains(&key) => {
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

    fn single(&mut self, key: Key, delta: Delta<Value>, mark: Mark) {
        self.populated = true;
        self.put(
            Work::Key {
                key,
                deltas: Deltas::new(delta),
            },
            Some(mark),
        );
    }

    fn delete(&mut self, key: Key, last: Final<Value>, mark: Mark, _: &Store) -> Deletion {
        self.single(key, Delta::Deleted(last), mark);
        Deletion::Queued
    }

    fn replace(&mut self, items: &[(Key, Value)], mark: Mark, _: &Store) {
        let seq = self.put(
            Work::Replace {
                items: distinct(items),
            },
            Some(mark),
        );
        if !self.populated {
            self.populated = true;
            self.first = Some(seq);
        }
    }

    fn resync(&mut self, _: &Store) {
        self.put(Work::Resync, None);
    }

    fn bookmark(&mut self, mark: Mark) {
        self.calls.next(Some(mark));
    }

    fn lease(&mut self, max: usize) -> Option<Handed> {
        if self.leased.is_some() || self.pending.is_empty() {
            return None;
        }
        let rest = self.pending.split_off(self.batch(max));
        let leased = std::mem::replace(&mut self.pending, rest);
        let handed = Handed {
            initial: !self.synced(),
            works: leased.iter().map(|item| item.work.clone()).collect(),
            mark: leased
                .iter()
                .map(|item| item.seq)
                .max()
                .and_then(|seq| self.calls.received(seq)),
            applied_after: self.calls.applied(self.pending.iter().map(|item| item.seq)),
        };
        self.leased = Some(leased);
        Some(handed)
    }

    fn settle(&mut self, failed: &[usize]) -> Vec<(TestWork, u32)> {
        let (mut again, mut quarantined) = (Vec::new(), Vec::new());
        for (at, mut item) in self.leased.take().into_iter().flatten().enumerate() {
            item.attempts += 1;
            match failed.contains(&at) {
                true if item.attempts < self.max_attempts => again.push(item),
                true => quarantined.push((item.work, item.attempts)),
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

    fn applied(&self) -> Option<Mark> {
        self.calls.applied(self.open())
    }

    fn received(&self) -> Option<Mark> {
        self.calls.last()
    }

    fn synced(&self) -> bool {
        self.populated && self.first.is_none()
    }

    fn len(&self) -> usize {
        self.open().count()
    }

    fn outstanding(&self) -> Vec<TestWork> {
        self.leased
            .iter()
            .flatten()
            .chain(&self.pending)
            .map(|item| item.work.clone())
            .collect()
    }
}
