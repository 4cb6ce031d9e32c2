//! A naive model of `DeltaFifo`: one list of pending changes. The first change of a key determines
//! its position.

use super::model::{Calls, Handed, Key, Model, Position, Store, TestItem, Value, distinct};
use crate::{Deletion, Delta, Deltas, Final, Item};

#[derive(Clone)]
struct Change {
    seq: usize,
    key: Key,
    delta: Delta<Value>,
    /// The numbers of the relists that the change belongs to.
    groups: Vec<usize>,
    attempts: u32,
}

#[derive(Clone, Default)]
pub(super) struct FifoModel {
    pending: Vec<Change>,
    leased: Option<Vec<Vec<Change>>>,
    calls: Calls,
    populated: bool,
    /// The number of the first relist until it is processed.
    first: Option<usize>,
    max_attempts: u32,
}

impl FifoModel {
    fn leased_items(&self) -> impl Iterator<Item = &Change> {
        self.leased.iter().flatten().flatten()
    }

    /// Changes leased or pending for `key`, oldest first.
    fn queued(&self, key: Key) -> impl Iterator<Item = &Change> {
        self.leased_items()
            .chain(&self.pending)
            .filter(move |change| change.key == key)
    }

    fn push(&mut self, change: Change) {
        let newest = self
            .pending
            .iter_mut()
            .rev()
            .find(|other| other.key == change.key);
        match newest {
            // FQ-4, DF-05.
            Some(Change {
                delta: Delta::Deleted(older),
                groups,
                ..
            }) if change.delta.is_deleted() => {
                groups.extend(change.groups);
                let Delta::Deleted(newer) = change.delta else {
                    unreachable!()
                };
                let keep_older = match (&older, &newer) {
                    (Final::Observed(_), _) | (Final::Unknown(Some(_)), Final::Unknown(None)) => {
                        true
                    }
                    (Final::Unknown(_), _) => false,
                };
                if !keep_older {
                    *older = newer;
                }
            }
            _ => self.pending.push(change),
        }
    }

    fn put(&mut self, seq: usize, key: Key, delta: Delta<Value>, group: Option<usize>) {
        self.push(Change {
            seq,
            key,
            delta,
            groups: group.into_iter().collect(),
            attempts: 0,
        });
    }

    fn open(&self) -> impl Iterator<Item = usize> {
        self.leased_items()
            .chain(&self.pending)
            .map(|change| change.seq)
    }

    fn keys_in_line(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for change in &self.pending {
            if !keys.contains(&change.key) {
                keys.push(change.key);
            }
        }
        keys
    }

    fn groups(&self, key: Key) -> impl Iterator<Item = usize> {
        self.pending
            .iter()
            .filter(move |change| change.key == key)
            .flat_map(|change| change.groups.iter().copied())
    }

    /// All keys connected with `key` through shared relists.
    fn tied_to(&self, key: Key) -> Vec<Key> {
        let mut tied = vec![key];
        loop {
            let groups: Vec<_> = tied.iter().flat_map(|key| self.groups(*key)).collect();
            let mut more = self.keys_in_line();
            more.retain(|k| tied.contains(k) || self.groups(*k).any(|g| groups.contains(&g)));
            if more.len() == tied.len() {
                return more;
            }
            tied = more;
        }
    }

    fn batch(&self, max: usize) -> Vec<Key> {
        let line = self.keys_in_line();
        let Some(&head) = line.first() else {
            return Vec::new();
        };
        let failed = |key: Key| self.pending.iter().any(|i| i.key == key && i.attempts > 0);
        if self.groups(head).next().is_some() {
            return self.tied_to(head);
        }
        if failed(head) {
            return vec![head];
        }
        let free = |key: &Key| self.groups(*key).next().is_none() && !failed(*key);
        line.into_iter().take_while(free).take(max).collect()
    }

    /// FQ-9: the latch.
    fn latch(&mut self) {
        if self
            .first
            .is_some_and(|first| !self.open().any(|seq| seq == first))
        {
            self.first = None;
        }
    }
}

impl Model for FifoModel {
    fn limit(&mut self, max_attempts: u32) {
        self.max_attempts = max_attempts;
    }

    fn single(&mut self, key: Key, delta: Delta<Value>, position: Position) {
        self.populated = true;
        let seq = self.calls.next(Some(position));
        self.put(seq, key, delta, None);
    }

    fn delete(
        &mut self,
        key: Key,
        last: Final<Value>,
        position: Position,
        known: &Store,
    ) -> Deletion {
        if known.contains_key(&key) || self.queued(key).next().is_some() {
            self.single(key, Delta::Deleted(last), position);
            return Deletion::Queued;
        }
        self.populated = true;
        self.calls.next(Some(position));
        Deletion::Ignored
    }

    fn replace(&mut self, items: &[(Key, Value)], position: Position, known: &Store) {
        let seq = self.calls.next(Some(position));
        let items = distinct(items);
        // FQ-5, FQ-6: live keys that the list leaves out: leased ones, then pending, then stored.
        let mut gone = Vec::new();
        let leased: Vec<_> = self.leased_items().map(|change| change.key).collect();
        let queued = leased.into_iter().chain(self.keys_in_line());
        for key in queued.chain(known.keys().copied()) {
            let newest = self.queued(key).last();
            let dead = newest.is_some_and(|change| change.delta.is_deleted());
            let listed = items.iter().any(|(other, _)| *other == key);
            if dead || listed || gone.iter().any(|(other, _)| *other == key) {
                continue;
            }
            let last = match newest {
                Some(change) => change.delta.object().copied(),
                None => known.get(&key).copied(),
            };
            gone.push((key, last));
        }
        // A pending deletion becomes part of the relist if the list has no object for its key.
        for key in self.keys_in_line() {
            let mut of_key = self.pending.iter_mut().filter(|change| change.key == key);
            let newest = of_key.next_back().expect("a key in line has a change");
            if newest.delta.is_deleted() && items.iter().all(|(other, _)| *other != key) {
                newest.groups.push(seq);
            }
        }
        for (key, value) in items {
            self.put(seq, key, Delta::Replaced(value), Some(seq));
        }
        for (key, last) in gone {
            self.put(seq, key, Delta::Deleted(Final::Unknown(last)), Some(seq));
        }
        if !self.populated {
            self.populated = true;
            self.first = Some(seq);
        }
        self.latch();
    }

    fn resync(&mut self, known: &Store) {
        let seq = self.calls.next(None);
        for (&key, &value) in known {
            // FQ-7: a key with a pending or leased change is not resynced.
            if self.queued(key).next().is_none() {
                self.put(seq, key, Delta::Sync(value), None);
            }
        }
    }

    fn bookmark(&mut self, position: Position) {
        self.calls.next(Some(position));
    }

    fn lease(&mut self, max: usize) -> Option<Handed> {
        if self.leased.is_some() || self.pending.is_empty() {
            return None;
        }
        let keys = self.batch(max);
        let of = |key: &Key| -> Vec<Change> {
            self.pending
                .iter()
                .filter(|change| change.key == *key)
                .cloned()
                .collect()
        };
        let leased: Vec<Vec<Change>> = keys.iter().map(of).collect();
        self.pending.retain(|change| !keys.contains(&change.key));
        let newest = leased.iter().flatten().map(|change| change.seq).max()?;
        let handed = Handed {
            initial: !self.synced(),
            items: leased.iter().map(|items| item(items)).collect(),
            position: self.calls.received(newest),
            applied_after: self
                .calls
                .applied(self.pending.iter().map(|change| change.seq)),
        };
        self.leased = Some(leased);
        Some(handed)
    }

    fn settle(&mut self, failed: &[usize]) -> Vec<(TestItem, u32)> {
        let leased = self.leased.take().unwrap_or_default();
        let newer = std::mem::take(&mut self.pending);
        // Failed changes of one leased group are retried as one group.
        let relists = leased.iter().flatten().flat_map(|change| &change.groups);
        let group: Vec<usize> = relists.min().copied().into_iter().collect();
        let mut quarantined = Vec::new();
        for (at, mut items) in leased.into_iter().enumerate() {
            if !failed.contains(&at) {
                continue;
            }
            // Each change counts its own attempts: a later change has had fewer.
            items.iter_mut().for_each(|change| change.attempts += 1);
            let exhausted = |change: &Change| change.attempts >= self.max_attempts;
            let (given_up, mut again): (Vec<_>, Vec<_>) = items.into_iter().partition(exhausted);
            for change in &mut again {
                // A last attempt is made alone: one failing change must not quarantine a relist.
                let is_last = change.attempts + 1 >= self.max_attempts;
                change.groups = if is_last { Vec::new() } else { group.clone() };
            }
            if let Some(oldest) = given_up.first() {
                quarantined.push((item(&given_up), oldest.attempts));
            }
            self.pending.extend(again);
        }
        // Retried changes precede all pending ones, including newer ones of the same key.
        for change in newer {
            self.push(change);
        }
        self.latch();
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
        let mut open: Vec<_> = self.open().collect();
        open.sort_unstable();
        open.dedup();
        open.len()
    }

    fn outstanding(&self) -> Vec<TestItem> {
        let items = self.leased_items().chain(&self.pending);
        items
            .map(|change| item(std::slice::from_ref(change)))
            .collect()
    }
}

fn item(items: &[Change]) -> TestItem {
    let rest = items[1..].iter().map(|change| change.delta.clone());
    Item::Key {
        key: items[0].key,
        deltas: Deltas::of(items[0].delta.clone(), rest),
    }
}
