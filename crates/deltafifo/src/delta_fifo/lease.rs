//! Handing out and taking back.
//!
//! - Design 6.4: a batch touches a group whole or not at all.
//! - Design 6.2: what failed goes back to the head, before what came meanwhile, with its
//!   original number; time does not move backwards for any key.
//! - FQ-11: what failed before is handed out alone, so that in the end only the culprit of a
//!   batch that panics is quarantined, and nothing behind it is kept waiting for ever.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use crate::delta_fifo::groups::GroupId;
use crate::deltas::Deltas;
use crate::error::NotLeased;
use crate::lease::{COUNTED, Item, Lease, LeaseId, Quarantined};
use crate::positions::Positions;

use super::{DeltaFifo, Slot};

/// The lease that is out.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
pub(super) struct Out<K, V> {
    id: LeaseId,
    items: Arc<[Item<K, V>]>,
    /// The group that was handed out.
    group: Option<GroupId>,
    /// Positions in `items` by key; made when first asked for, since most leases come back
    /// before anybody asks.
    index: Option<Positions>,
}

impl<K: Eq + Hash, V> Out<K, V> {
    pub(super) fn id(&self) -> LeaseId {
        self.id
    }

    /// The leased changes of each leased key, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&K, &Deltas<V>)> {
        self.items.iter().map(key_work)
    }

    /// The leased changes of `key`.
    pub(super) fn deltas(&mut self, key: &K) -> Option<&Deltas<V>> {
        let items = &self.items;
        let key_at = |at: usize| key_work(&items[at]).0;
        let index = self
            .index
            .get_or_insert_with(|| Positions::of(items.len(), key_at));
        let at = index.find(key, key_at)?;
        Some(key_work(&items[at]).1)
    }
}

impl<K, V, P> DeltaFifo<K, V, P>
where
    K: Clone + Eq + Hash,
    V: Clone,
    P: Clone,
{
    pub(super) fn hand_out(&mut self, max_keys: NonZeroUsize) -> Option<Lease<K, V, P>> {
        if self.out.is_some() {
            return None;
        }
        let group = self.line.front()?.group;
        let items = match group {
            Some(group) => self.take_group(group),
            None => self.take_batch(max_keys),
        };
        let mut newest = 0;
        for item in items.iter() {
            for stamped in key_work(item).1.stamps() {
                self.ledger.lease(stamped.seq);
                newest = newest.max(stamped.seq);
            }
        }
        self.leases += 1;
        let id = LeaseId(self.leases);
        let initial = !self.phase.is_synced();
        planted!(SyncedOnLease => self.phase = crate::queue_core::phase::Phase::Synced);
        self.out = Some(Out {
            id,
            items: Arc::clone(&items),
            group,
            index: None,
        });
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
        let out = id.take(&mut self.out, Out::id)?;
        for item in out.items.iter() {
            self.done(key_work(item).1);
        }
        self.settled();
        Ok(())
    }

    #[inline]
    fn done(&mut self, deltas: &Deltas<V>) {
        for done in deltas.stamps() {
            self.ledger.done(done.seq, true);
        }
    }

    #[inline]
    fn settled(&mut self) {
        self.ledger.settle();
        self.phase.settle(&self.ledger);
        self.line.shrink();
    }

    /// Settles the lease: all of it but the works at `failed` is done.
    pub(super) fn take_back(
        &mut self,
        id: LeaseId,
        failed: &[usize],
    ) -> Result<Vec<Quarantined<K, V>>, NotLeased> {
        let out = id.take(&mut self.out, Out::id)?;
        let items = out.items.len();
        if let Some(&position) = failed.iter().find(|&&at| at >= items) {
            self.out = Some(out);
            return Err(NotLeased::Item { position, items });
        }
        let failed: BTreeSet<usize> = failed.iter().copied().collect();
        let mut quarantined = Vec::new();
        let mut again = Vec::new();
        for (at, item) in out.items.iter().enumerate() {
            let (key, deltas) = key_work(item);
            if !failed.contains(&at) {
                self.done(deltas);
                continue;
            }
            // What joined the key between two attempts is not the culprit, and is tried again.
            let (given_up, retried) = deltas.clone().failed(self.max_attempts.get());
            if let Some(deltas) = given_up {
                self.done(&deltas);
                let attempts = NonZeroU32::new(deltas.attempts()).unwrap_or(NonZeroU32::MIN);
                let key = key.clone();
                quarantined.push(Quarantined {
                    item: Item::Key { key, deltas },
                    attempts,
                });
            }
            if let Some(deltas) = retried {
                deltas
                    .stamps()
                    .for_each(|stamped| self.ledger.unlease(stamped.seq));
                again.push((key.clone(), deltas));
            }
        }
        for (key, deltas) in again.into_iter().rev() {
            self.give_back(key, deltas, out.group);
        }
        self.settled();
        Ok(quarantined)
    }

    /// From the front: keys that are in no group, at most `max_keys`.
    #[inline]
    fn take_batch(&mut self, max_keys: NonZeroUsize) -> Arc<[Item<K, V>]> {
        let failed = |slot: &Slot<V>| slot.deltas.attempts() > 0;
        // What failed before is handed out alone.
        let items = match self.line.front() {
            Some(slot) if max_keys == NonZeroUsize::MIN || failed(slot) => 1,
            _ => {
                let all = self.line.iter().take(max_keys.get());
                all.take_while(|(_, _, slot)| slot.group.is_none() && !failed(slot))
                    .count()
            }
        };
        if items > 1 && items == self.line.len() {
            let mut next = self.line.take_all();
            return (0..items).map(|_| into_work(next())).collect();
        }
        let mut next = || into_work(self.line.pop_front().expect(COUNTED));
        match items {
            // An array is made with less ado than a slice.
            1 => Arc::new([next()]),
            _ => (0..items).map(|_| next()).collect(),
        }
    }

    /// All keys that are tied to `group`, in the order of the line.
    fn take_group(&mut self, group: GroupId) -> Arc<[Item<K, V>]> {
        let root = self.groups.root(group);
        let members = self.groups.members(root);
        if members == self.line.len() {
            self.groups.dissolve(root);
            let mut next = self.line.take_all();
            let items = (0..members).map(|_| into_work(next())).collect();
            drop(next);
            self.line.shrink();
            return items;
        }
        let tied = |slot: &Slot<V>| {
            slot.group
                .is_some_and(|group| self.groups.root(group) == root)
        };
        let all = self.line.iter().filter(|(_, _, slot)| tied(slot));
        let at: Vec<_> = all.map(|(at, ..)| at).take(members).collect();
        assert_eq!(at.len(), members, "every member of a group waits");
        self.groups.dissolve(root);
        at.into_iter()
            .map(|at| into_work(self.line.take(at)))
            .collect()
    }

    /// Puts changes that failed before all that waits, and before what came for their key
    /// meanwhile. A group comes back as a group. For its last attempt a key leaves it and is handed
    /// out alone, so that the culprit is given up and not the whole relist.
    fn give_back(&mut self, key: K, mut deltas: Deltas<V>, leased: Option<GroupId>) {
        let mut group = None;
        planted!(NackForgetsNewer => drop(self.line.remove(&key)));
        let attempts = deltas.newest_stamped().attempts.saturating_add(1);
        let leased = leased.filter(|_| attempts < self.max_attempts.get());
        if let Some(slot) = self.line.remove(&key) {
            group = slot.group;
            if let Some(merged) = deltas.append(slot.deltas) {
                self.ledger.done(merged, false);
            }
        }
        if let Some(leased) = leased {
            self.groups.join(&mut group, leased);
        }
        planted!(NackToTail => {
            self.line.push_last(key, Slot { deltas, group });
            return;
        });
        self.line.push_front(key, Slot { deltas, group });
    }
}

#[inline]
fn into_work<K, V>((key, slot): (K, Slot<V>)) -> Item<K, V> {
    Item::Key {
        key,
        deltas: slot.deltas,
    }
}

/// Key and changes of a work of this queue, which hands out no others.
#[inline]
fn key_work<K, V>(item: &Item<K, V>) -> (&K, &Deltas<V>) {
    match item {
        Item::Key { key, deltas } => (key, deltas),
        Item::Replace { .. } | Item::Resync => unreachable!("this queue leases keys only"),
    }
}
