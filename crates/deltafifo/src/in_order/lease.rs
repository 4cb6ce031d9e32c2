//! Handing out and taking back.
//!
//! - RF-05: a batch has distinct keys; a relist and a resync are handed out alone, and so is
//!   what failed before (FQ-11).
//! - Design 6.2: what failed goes back to the head, with its original number.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hash};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::error::NotLeased;
use crate::lease::{COUNTED, Item, Lease, LeaseId, Quarantined};
use crate::queue_core::ledger::SPARE;

use super::InOrderQueue;

/// What is remembered of a work beside itself.
#[derive(Clone, Copy)]
pub(super) struct Tag {
    /// Number of the call that brought it.
    pub(super) seq: u64,
    /// How often it was handed out and given back.
    pub(super) attempts: u32,
}

/// The lease that is out.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
pub(super) struct Out<K, V> {
    pub(super) id: LeaseId,
    pub(super) items: Arc<[Item<K, V>]>,
    /// The tag of the first work, and those of the others: most leases have one.
    first: Tag,
    others: Vec<Tag>,
}

impl<K, V> Out<K, V> {
    fn tags(&self) -> impl DoubleEndedIterator<Item = &Tag> + ExactSizeIterator {
        (0..self.others.len() + 1).map(|at| match at {
            0 => &self.first,
            _ => &self.others[at - 1],
        })
    }
}

impl<K, V, P> InOrderQueue<K, V, P>
where
    K: Clone + Eq + Hash,
    V: Clone,
    P: Clone,
{
    pub(super) fn hand_out(&mut self, max_keys: NonZeroUsize) -> Option<Lease<K, V, P>> {
        if self.out.is_some() || self.waiting.is_empty() {
            return None;
        }
        let out = self.take_batch(max_keys);
        let mut newest = 0;
        for tag in out.tags() {
            self.ledger.lease(tag.seq);
            newest = newest.max(tag.seq);
        }
        let (id, items) = (out.id, Arc::clone(&out.items));
        self.out = Some(out);
        let initial = !self.phase.is_synced();
        planted!(SyncedOnLease => self.phase = crate::queue_core::phase::Phase::Synced);
        Some(Lease {
            id,
            initial,
            items,
            position: self.ledger.position(newest).cloned(),
            applied_after: self.ledger.applied_after().cloned(),
        })
    }

    /// Settles the lease: all of it is done.
    #[inline]
    pub(super) fn settle(&mut self, id: LeaseId) -> Result<(), NotLeased> {
        let out = id.take(&mut self.out, |out| out.id)?;
        for tag in out.tags() {
            self.ledger.done(tag.seq, true);
        }
        self.settled();
        Ok(())
    }

    #[inline]
    fn settled(&mut self) {
        self.ledger.settle();
        self.phase.settle(&self.ledger);
        if self.waiting.capacity() > 4 * self.waiting.len() + SPARE {
            self.waiting.shrink_to(2 * self.waiting.len());
        }
    }

    /// Settles the lease: all of it but the works at `failed` is done.
    pub(super) fn take_back(
        &mut self,
        id: LeaseId,
        failed: &[usize],
    ) -> Result<Vec<Quarantined<K, V>>, NotLeased> {
        let out = id.take(&mut self.out, |out| out.id)?;
        let items = out.items.len();
        if let Some(&position) = failed.iter().find(|&&at| at >= items) {
            self.out = Some(out);
            return Err(NotLeased::Item { position, items });
        }
        let failed: BTreeSet<usize> = failed.iter().copied().collect();
        let mut quarantined = Vec::new();
        for (at, (tag, item)) in out.tags().zip(&*out.items).enumerate().rev() {
            let attempts = NonZeroU32::MIN.saturating_add(tag.attempts);
            if failed.contains(&at) && attempts < self.max_attempts {
                self.ledger.unlease(tag.seq);
                let tag = Tag {
                    attempts: attempts.get(),
                    ..*tag
                };
                let mut item = item.clone();
                if let Item::Key { deltas, .. } = &mut item {
                    deltas.set_attempts(tag.attempts);
                }
                planted!(NackToTail => {
                    self.waiting.push_back((tag, item));
                    continue;
                });
                self.waiting.push_front((tag, item));
                continue;
            }
            self.ledger.done(tag.seq, true);
            if failed.contains(&at) {
                quarantined.push(Quarantined {
                    item: item.clone(),
                    attempts,
                });
            }
        }
        quarantined.reverse();
        self.settled();
        Ok(quarantined)
    }

    /// From the head: changes of distinct keys, or one work of another kind (RF-05).
    #[inline]
    fn take_batch(&mut self, max: NonZeroUsize) -> Out<K, V> {
        let items = match self.waiting.front() {
            Some(first) if max == NonZeroUsize::MIN || is_alone(first) => 1,
            _ => self.distinct(max.get()),
        };
        self.leases += 1;
        let mut next = || self.waiting.pop_front().expect(COUNTED);
        let (first, item) = next();
        // An array is made with less ado than a slice.
        let (others, items): (_, Arc<[_]>) = match items {
            1 => (Vec::new(), Arc::new([item])),
            _ => {
                let mut others = Vec::with_capacity(items - 1);
                let mut all = Vec::with_capacity(items);
                all.push(item);
                for (tag, item) in (1..items).map(|_| next()) {
                    others.push(tag);
                    all.push(item);
                }
                (others, all.into())
            }
        };
        Out {
            id: LeaseId(self.leases),
            items,
            first,
            others,
        }
    }

    /// How many from the head are changes of one key each, no key twice; at most `max`.
    fn distinct(&self, max: usize) -> usize {
        let room = max.min(self.waiting.len());
        let key = |at: usize| key_of(&self.waiting[at].1);
        let hash = |at: usize| self.hasher.hash_one(key(at));
        let mut seen = HashTable::with_capacity(room);
        for at in 0..room {
            if is_alone(&self.waiting[at]) {
                return at;
            }
            let same = |&other: &usize| key(other) == key(at) && !planted!(BatchRepeatsKey);
            match seen.entry(hash(at), same, |&other| hash(other)) {
                Entry::Occupied(_) => return at,
                Entry::Vacant(place) => drop(place.insert(at)),
            }
        }
        room
    }
}

/// Whether it is handed out with no other: what failed before, and what is not of one key.
fn is_alone<K, V>((tag, item): &(Tag, Item<K, V>)) -> bool {
    tag.attempts > 0 || !matches!(item, Item::Key { .. })
}

fn key_of<K, V>(item: &Item<K, V>) -> Option<&K> {
    match item {
        Item::Key { key, .. } => Some(key),
        Item::Replace { .. } | Item::Resync => None,
    }
}
