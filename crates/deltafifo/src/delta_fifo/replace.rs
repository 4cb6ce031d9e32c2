//! Relist and resync: comparison with the consumer's store.
//!
//! A relist appends in client-go's order: `Replaced` for each object in the list, then
//! tombstones for keys that are not in it. Pending keys keep their place. An object that the
//! consumer holds in this version, and whose key has nothing queued, is left out.
//!
//! The transform, `Known` and the `Clone` of objects run before the call begins: if one of them
//! panics, the queue is as it was.

// DF-07

use std::cell::OnceCell;
use std::hash::Hash;

use crate::delta::Delta;
use crate::deltas::{Deltas, Pushed, Stamped};
use crate::keys::index::KeyIndex;
use crate::known::Known;
use crate::queue_core::leased::Leased;
use crate::tombstone::Final;

use super::groups::GroupId;
use super::{DeltaFifo, Slot};

impl<K: Clone + Eq + Hash, V: Clone, P: Clone> DeltaFifo<K, V, P> {
    /// Whether changes of `key` are pending or leased.
    pub(super) fn is_queued(&mut self, key: &K) -> bool {
        self.pending.map.contains(key) || self.is_leased(key)
    }

    fn is_leased(&mut self, key: &K) -> bool {
        planted!(LeasedIsForgotten => return false);
        let leased = self.leased.as_mut();
        leased.is_some_and(|leased| leased.deltas(key).is_some())
    }

    /// The newest object known of `key`: pending before leased before held.
    pub(super) fn newest(&mut self, key: &K, known: &dyn Known<K, V>) -> Option<V> {
        let pending = self.pending.map.get(key).map(|slot| &slot.deltas);
        match pending.or_else(|| self.leased.as_mut()?.deltas(key)) {
            Some(deltas) => deltas.newest().object().cloned(),
            None => known.get(key),
        }
    }

    /// Queues a relist as one group. Returns the items that were left out.
    // DF-07
    pub(super) fn relist(
        &mut self,
        items: Vec<(K, V)>,
        position: P,
        known: &dyn Known<K, V>,
    ) -> Vec<(K, V)> {
        let begun =
            planted!(RelistBegunFirst).then(|| self.ledger.begin(Some(position.clone()), 0));
        // The listed items stay in the memory they came in.
        let listed = self.intake.admit_all(items);
        let is_held = |(key, value): &(K, Option<V>)| {
            let value = value.as_ref();
            value.is_some_and(|value| known.holds(key, value))
        };
        let held: Vec<bool> = listed.iter().map(is_held).collect();
        let key_at = |at: usize| &listed[at].0;
        let index = OnceCell::new();
        let find = |key: &K| {
            let index = index.get_or_init(|| KeyIndex::of(listed.len(), key_at));
            index.find(key, key_at)
        };
        let is_listed = |key: &K| find(key).is_some();
        let buried = self.gone_while_pending(&is_listed);
        let mut gone = self.gone_while_leased(&is_listed);
        // A collection is usually listed in the order in which it is held. Its keys are then
        // compared place by place, and hashed only for what is new or gone.
        let mut next = 0;
        known.for_each_key(&mut |key| {
            let is_next = listed.get(next).is_some_and(|(listed, _)| listed == key);
            match if is_next { Some(next) } else { find(key) } {
                Some(at) => next = at + 1,
                None if self.is_queued(key) => {}
                None => gone.push((key.clone(), known.get(key))),
            }
        });
        let seq = begun.unwrap_or_else(|| self.ledger.begin(Some(position), 0));
        let relist = self.pending.groups.begin();
        // All of the first list becomes pending; of later ones most is held already.
        if self.phase.relist(seq) {
            let more = listed.len().saturating_sub(self.pending.map.len());
            self.pending.map.reserve(more);
        }
        self.bury_pending(seq, relist, buried);
        // In the memory of the list, of which nearly all may be left out.
        let listed = listed.into_iter().zip(held);
        let left_out = listed.filter_map(|((key, value), is_held)| match value {
            Some(value) if is_held && !self.is_queued(&key) => Some((key, value)),
            Some(value) => self.put_listed(key, value, seq, relist),
            // Rejected. The object exists, so it must not be taken for gone (FM-53).
            None => None,
        });
        let left_out = left_out.collect();
        for (key, last) in gone {
            let delta = Delta::Deleted(Final::Unknown(last));
            self.put_counted(key, delta, seq, Some(relist));
        }
        self.phase.settle(&self.ledger);
        self.ledger.end();
        left_out
    }

    /// A reminder for every key that is held and has nothing queued.
    // DF-13
    pub(super) fn remind(&mut self, known: &dyn Known<K, V>) {
        let mut idle = Vec::new();
        known.for_each(&mut |key, value| {
            if !self.is_queued(key) || planted!(ResyncOverPending) {
                idle.push((key.clone(), value.clone()));
            }
        });
        let seq = self.ledger.begin(None, 0);
        for (key, value) in idle {
            self.put_counted(key, Delta::Sync(value), seq, None);
        }
        self.ledger.end();
    }

    /// Appends `Replaced`. Of a key listed twice the last object counts; returns the other.
    // FQ-8
    fn put_listed(&mut self, key: K, value: V, seq: u64, relist: GroupId) -> Option<(K, V)> {
        let stamped = Stamped::new(Delta::Replaced(value), seq);
        planted!(ReplacedSwallowsDelete => if self.pending.swallow(&key, &stamped).is_some() {
            return None;
        });
        let (slot, refused) = self.pending.map.push_back(key, Slot::new(stamped));
        self.pending.groups.join(&mut slot.group, relist);
        let pushed = match refused {
            None => Pushed::Appended,
            Some((key, newer))
                if slot.deltas.newest_stamped().stamp.seq == seq && !planted!(ListedTwice) =>
            {
                return match slot.deltas.replace_newest(newer.deltas) {
                    Delta::Replaced(older) => Some((key, older)),
                    _ => None,
                };
            }
            Some((_, newer)) => slot.deltas.append(newer.deltas),
        };
        if let Pushed::Appended = pushed {
            self.ledger.add(seq);
        }
        None
    }

    fn put_counted(&mut self, key: K, delta: Delta<V>, seq: u64, relist: Option<GroupId>) {
        if let Pushed::Appended = self.pending.put(key, Stamped::new(delta, seq), relist) {
            self.ledger.add(seq);
        }
    }

    /// For each pending key, whether it is gone, and the last state of an object that is. A key
    /// whose deletion is pending is not deleted twice.
    // FQ-6
    fn gone_while_pending(&self, listed: &dyn Fn(&K) -> bool) -> Vec<Option<Option<V>>> {
        let gone = |(_, key, slot): (_, &K, &Slot<V>)| {
            let newest = slot.deltas.newest();
            let is_alive = !newest.is_deleted() || planted!(TombstoneTwice);
            (is_alive && !listed(key)).then(|| newest.object().cloned())
        };
        self.pending.map.iter().map(gone).collect()
    }

    /// Appends tombstones to the keys that are gone. All pending keys become part of the relist, or
    /// the list would be visible before them.
    fn bury_pending(&mut self, seq: u64, relist: GroupId, gone: Vec<Option<Option<V>>>) {
        planted!(NoTombstoneForQueued => return);
        for (slot, gone) in self.pending.map.values_mut().zip(gone) {
            if slot.deltas.newest().is_deleted() && planted!(DeletionOutsideRelist) {
                continue;
            }
            if let Some(last) = gone {
                let delta = Delta::Deleted(Final::Unknown(last));
                slot.deltas
                    .append(Deltas::stamped(Stamped::new(delta, seq)));
                self.ledger.add(seq);
            }
            self.pending.groups.join(&mut slot.group, relist);
        }
    }

    /// Keys that are leased, have nothing pending, and are not in the list: their newest object
    /// is the leased one. One whose deletion is leased is not deleted twice.
    // FQ-6
    fn gone_while_leased(&self, listed: &dyn Fn(&K) -> bool) -> Vec<(K, Option<V>)> {
        planted!(RelistForgetsLeased => return Vec::new());
        let leased = self.leased.iter().flat_map(Leased::keys);
        let gone = leased.filter(|(key, deltas)| {
            !deltas.newest().is_deleted() && !self.pending.map.contains(key) && !listed(key)
        });
        gone.map(|(key, deltas)| (key.clone(), deltas.newest().object().cloned()))
            .collect()
    }
}
