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
use crate::lease::{COUNTED, Lease, LeaseId, Quarantined, Work};
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
    pub(super) works: Arc<[Work<K, V>]>,
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

impl<K, V, M> InOrderQueue<K, V, M>
where
    K: Clone + Eq + Hash,
    V: Clone,
    M: Clone,
{
    pub(super) fn hand_out(&mut self, max_keys: NonZeroUsize) -> Option<Lease<K, V, M>> {
        if self.out.is_some() || self.waiting.is_empty() {
            return None;
        }
        let out = self.take_batch(max_keys);
        let mut newest = 0;
        for tag in out.tags() {
            self.ledger.lease(tag.seq);
            newest = newest.max(tag.seq);
        }
        let (id, works) = (out.id, Arc::clone(&out.works));
        self.out = Some(out);
        let initial = !self.phase.is_synced();
        planted!(SyncedOnLease => self.phase = crate::queue_core::phase::Phase::Synced);
        Some(Lease {
            id,
            initial,
            works,
            mark: self.ledger.mark(newest).cloned(),
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
        let works = out.works.len();
        if let Some(&position) = failed.iter().find(|&&at| at >= works) {
            self.out = Some(out);
            return Err(NotLeased::Work { position, works });
        }
        let failed: BTreeSet<usize> = failed.iter().copied().collect();
        let mut quarantined = Vec::new();
        for (at, (tag, work)) in out.tags().zip(&*out.works).enumerate().rev() {
            let attempts = NonZeroU32::MIN.saturating_add(tag.attempts);
            if failed.contains(&at) && attempts < self.max_attempts {
                self.ledger.unlease(tag.seq);
                let tag = Tag {
                    attempts: attempts.get(),
                    ..*tag
                };
                let mut work = work.clone();
                if let Work::Key { deltas, .. } = &mut work {
                    deltas.set_attempts(tag.attempts);
                }
                planted!(NackToTail => {
                    self.waiting.push_back((tag, work));
                    continue;
                });
                self.waiting.push_front((tag, work));
                continue;
            }
            self.ledger.done(tag.seq, true);
            if failed.contains(&at) {
                quarantined.push(Quarantined {
                    work: work.clone(),
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
        let works = match self.waiting.front() {
            Some(first) if max == NonZeroUsize::MIN || is_alone(first) => 1,
            _ => self.distinct(max.get()),
        };
        self.leases += 1;
        let mut next = || self.waiting.pop_front().expect(COUNTED);
        let (first, work) = next();
        // An array is made with less ado than a slice.
        let (others, works): (_, Arc<[_]>) = match works {
            1 => (Vec::new(), Arc::new([work])),
            _ => {
                let mut others = Vec::with_capacity(works - 1);
                let mut all = Vec::with_capacity(works);
                all.push(work);
                for (tag, work) in (1..works).map(|_| next()) {
                    others.push(tag);
                    all.push(work);
                }
                (others, all.into())
            }
        };
        Out {
            id: LeaseId(self.leases),
            works,
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
fn is_alone<K, V>((tag, work): &(Tag, Work<K, V>)) -> bool {
    tag.attempts > 0 || !matches!(work, Work::Key { .. })
}

fn key_of<K, V>(work: &Work<K, V>) -> Option<&K> {
    match work {
        Work::Key { key, .. } => Some(key),
        Work::Replace { .. } | Work::Resync => None,
    }
}
