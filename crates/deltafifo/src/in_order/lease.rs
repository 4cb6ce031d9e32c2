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

use crate::error::NotLeased;
use crate::lease::{Lease, LeaseId, Quarantined, Work};
use crate::ledger::SPARE;

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
#[cfg_attr(test, derive(Clone))]
pub(super) struct Out<K, V> {
    pub(super) id: LeaseId,
    pub(super) works: Arc<[Work<K, V>]>,
    tags: Vec<Tag>,
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
        let (tags, works) = self.take_batch(max_keys);
        for tag in &tags {
            self.ledger.lease(tag.seq);
        }
        let newest = tags.iter().map(|tag| tag.seq).max()?;
        self.leases += 1;
        let id = LeaseId(self.leases);
        let initial = !self.phase.is_synced();
        planted!(self, SyncedOnLease => self.phase = crate::phase::Phase::Synced);
        let works: Arc<[_]> = works.into();
        self.out = Some(Out {
            id,
            works: Arc::clone(&works),
            tags,
        });
        Some(Lease {
            id,
            initial,
            works,
            mark: self.ledger.mark(newest).cloned(),
            applied_after: self.ledger.applied_after().cloned(),
        })
    }

    /// Settles the lease: all of it but the works at `failed` is done.
    pub(super) fn take_back(
        &mut self,
        id: LeaseId,
        failed: &[usize],
    ) -> Result<Vec<Quarantined<K, V>>, NotLeased> {
        let current = self.out.as_ref().map(|out| out.id);
        let Some(out) = self.out.take_if(|out| out.id == id) else {
            return Err(NotLeased::Lease { given: id, current });
        };
        let works = out.works.len();
        if let Some(&position) = failed.iter().find(|&&at| at >= works) {
            self.out = Some(out);
            return Err(NotLeased::Work { position, works });
        }
        let failed: BTreeSet<usize> = failed.iter().copied().collect();
        let mut quarantined = Vec::new();
        for (at, (tag, work)) in out.tags.iter().zip(&*out.works).enumerate().rev() {
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
                planted!(self, NackToTail => {
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
        self.ledger.settle();
        self.phase.settle(&self.ledger);
        if self.waiting.capacity() > 4 * self.waiting.len() + SPARE {
            self.waiting.shrink_to(2 * self.waiting.len());
        }
        Ok(quarantined)
    }

    /// From the head: changes of distinct keys, or one work of another kind (RF-05).
    fn take_batch(&mut self, max: NonZeroUsize) -> (Vec<Tag>, Vec<Work<K, V>>) {
        let room = max.get().min(self.waiting.len());
        let (mut tags, mut works) = (Vec::with_capacity(room), Vec::with_capacity(room));
        let mut seen = HashTable::with_capacity(if room > 1 { room } else { 0 });
        while works.len() < room
            && let Some((tag, work)) = self.waiting.front()
        {
            let alone = tag.attempts > 0 || !matches!(work, Work::Key { .. });
            if !works.is_empty() && (alone || !self.is_new(work, &works, &mut seen)) {
                break;
            }
            if works.is_empty() && room > 1 && !alone {
                self.is_new(work, &works, &mut seen);
            }
            let (tag, work) = self
                .waiting
                .pop_front()
                .expect("the front was just looked at");
            tags.push(tag);
            works.push(work);
            if alone {
                break;
            }
        }
        (tags, works)
    }

    /// Whether the key of `work`, which would come next, is not in the batch; remembers it.
    fn is_new(&self, work: &Work<K, V>, works: &[Work<K, V>], seen: &mut HashTable<usize>) -> bool {
        planted!(self, BatchRepeatsKey => return true);
        let Some(key) = key_of(work) else {
            return false;
        };
        let hash = |key: Option<&K>| self.hasher.hash_one(key);
        let mine = hash(Some(key));
        if seen
            .find(mine, |&at: &usize| key_of(&works[at]) == Some(key))
            .is_some()
        {
            return false;
        }
        seen.insert_unique(mine, works.len(), |&at| hash(key_of(&works[at])));
        true
    }
}

fn key_of<K, V>(work: &Work<K, V>) -> Option<&K> {
    match work {
        Work::Key { key, .. } => Some(key),
        Work::Replace { .. } | Work::Resync => None,
    }
}
