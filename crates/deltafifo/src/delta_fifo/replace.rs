//! Relist and resync: what the consumer's store is compared with.
//!
//! A relist appends in client-go's order (DF-07): `Replaced` for what is in the list, then
//! tombstones for what is not. Keys that wait keep their place. An item that the consumer holds
//! in this version, and for which nothing waits, is left out.

use std::cell::OnceCell;
use std::hash::Hash;

use crate::delta::Delta;
use crate::delta_fifo::groups::GroupId;
use crate::delta_fifo::pending_map::Entry;
use crate::deltas::{Pushed, Stamped};
use crate::known::Known;
use crate::positions::Positions;
use crate::tombstone::Final;

use super::lease::Out;
use super::{DeltaFifo, append};

impl<K, V, P> DeltaFifo<K, V, P>
where
    K: Clone + Eq + Hash,
    V: Clone,
    P: Clone,
{
    /// The newest object known of `key`: pending before leased before held.
    pub(super) fn newest(&mut self, key: &K, known: &dyn Known<K, V>) -> Option<V> {
        let pending = self.line.get(key).map(|slot| &slot.deltas);
        match pending.or_else(|| self.out.as_mut()?.deltas(key)) {
            Some(deltas) => deltas.newest().object().cloned(),
            None => known.get(key),
        }
    }

    /// DF-07, as one group.
    pub(super) fn relist(&mut self, items: Vec<(K, V)>, position: P, known: &dyn Known<K, V>) {
        let begun = planted!(RelistBegunFirst).then(|| self.ledger.begin(Some(position.clone())));
        // Before the call begins, the transform and `known` run: if they panic, the queue is as it
        // was. The listed items stay in the memory they came in.
        let listed = self.intake.admit_all(items);
        let is_held = |(key, value): &(K, Option<V>)| {
            let value = value.as_ref();
            value.is_some_and(|value| known.holds(key, value))
        };
        let held: Vec<bool> = listed.iter().map(is_held).collect();
        let key_at = |at: usize| &listed[at].0;
        let positions = OnceCell::new();
        let is_listed = |key: &K| {
            let positions = positions.get_or_init(|| Positions::of(listed.len(), key_at));
            positions.find(key, key_at).is_some()
        };
        let mut gone = self.gone_while_leased(&is_listed);
        known.for_each_key(&mut |key| {
            if !is_listed(key) && !self.is_queued(key) {
                gone.push((key.clone(), known.get(key)));
            }
        });
        let seq = begun.unwrap_or_else(|| self.ledger.begin(Some(position)));
        let relist = self.groups.begin();
        // All of the first list has to wait; of later ones most is held already.
        if self.phase.relist(seq) {
            self.line
                .reserve(listed.len().saturating_sub(self.line.len()));
        }
        self.bury_waiting(seq, relist, &is_listed);
        for ((key, value), is_held) in listed.into_iter().zip(held) {
            match value {
                Some(value) if !is_held || self.is_queued(&key) => {
                    self.put_listed(key, value, seq, relist);
                }
                // The consumer holds it, or it was rejected: it exists, so it must not be taken
                // for gone (FM-53).
                Some(_) | None => {}
            }
        }
        for (key, last) in gone {
            let delta = Delta::Deleted(Final::Unknown(last));
            self.put_counted(key, delta, seq, Some(relist));
        }
        self.phase.settle(&self.ledger);
        self.ledger.end();
    }

    /// DF-13: a reminder for every key held that has nothing newer waiting.
    pub(super) fn remind(&mut self, known: &dyn Known<K, V>) {
        // Before the call begins, as in a relist.
        let mut idle = Vec::new();
        known.for_each(&mut |key, value| {
            if !self.is_queued(key) || planted!(ResyncOverPending) {
                idle.push((key.clone(), value.clone()));
            }
        });
        let seq = self.ledger.begin(None);
        for (key, value) in idle {
            self.put_counted(key, Delta::Sync(value), seq, None);
        }
        self.ledger.end();
    }

    /// Appends `Replaced`; of a key listed twice the last object counts (FQ-8).
    fn put_listed(&mut self, key: K, value: V, seq: u64, relist: GroupId) {
        let delta = Delta::Replaced(value);
        planted!(ReplacedSwallowsDelete => {
            let stamped = Stamped { delta: delta.clone(), seq, attempts: 0 };
            if self.swallow(&key, &stamped) {
                return;
            }
        });
        let last_wins = !planted!(ListedTwice);
        match self.line.entry(key) {
            Entry::Waiting(slot) if last_wins && slot.deltas.newest_stamped().seq == seq => {
                slot.deltas.newest_stamped_mut().delta = delta;
            }
            entry => {
                let stamped = Stamped {
                    delta,
                    seq,
                    attempts: 0,
                };
                if let Pushed::Appended = append(entry, stamped, Some(relist), &mut self.groups) {
                    self.ledger.add(seq);
                }
            }
        }
    }

    fn put_counted(&mut self, key: K, delta: Delta<V>, seq: u64, relist: Option<GroupId>) {
        let stamped = Stamped {
            delta,
            seq,
            attempts: 0,
        };
        if let Pushed::Appended = self.put(key, stamped, relist) {
            self.ledger.add(seq);
        }
    }

    /// Tombstones for what waits and is not in the list, unless its deletion waits (FQ-6). All that
    /// waits becomes part of the relist, or the list would be visible before it (design 6.4).
    fn bury_waiting(&mut self, seq: u64, relist: GroupId, listed: &dyn Fn(&K) -> bool) {
        planted!(NoTombstoneForQueued => return);
        for (key, slot) in self.line.iter_mut() {
            let newest = slot.deltas.newest();
            let is_gone = newest.is_deleted();
            if is_gone && planted!(DeletionOutsideRelist) {
                continue;
            }
            if !listed(key) && (!is_gone || planted!(TombstoneTwice)) {
                let delta = Delta::Deleted(Final::Unknown(newest.object().cloned()));
                slot.deltas.push(Stamped {
                    delta,
                    seq,
                    attempts: 0,
                });
                self.ledger.add(seq);
            }
            self.groups.join(&mut slot.group, relist);
        }
    }

    /// Keys that are leased, have nothing pending, and are not in the list: their newest object
    /// is the leased one (design 6.1). One whose deletion is leased is not deleted twice (FQ-6).
    fn gone_while_leased(&self, listed: &dyn Fn(&K) -> bool) -> Vec<(K, Option<V>)> {
        planted!(RelistForgetsLeased => return Vec::new());
        let leased = self.out.iter().flat_map(Out::keys);
        let gone = leased.filter(|(key, deltas)| {
            !deltas.newest().is_deleted() && !self.line.contains(key) && !listed(key)
        });
        gone.map(|(key, deltas)| (key.clone(), deltas.newest().object().cloned()))
            .collect()
    }
}
