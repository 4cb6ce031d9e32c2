//! Relist and resync: what the consumer's store is compared with.
//!
//! A relist appends in client-go's order (DF-07): `Replaced` for what is in the list, then
//! tombstones for what is not. Keys that wait keep their place. Which keys were in the list
//! needs no second set: they are those whose newest change has the number of this call. What the
//! consumer says it holds just so, and nothing waits for, is left out: it would be told nothing.

use std::hash::Hash;

use crate::delta::Delta;
use crate::deltas::{Pushed, Stamped};
use crate::known::Known;
use crate::line::Entry;
use crate::positions::Positions;
use crate::tombstone::Final;

use super::lease::Out;
use super::{DeltaFifo, append};

impl<K, V, M> DeltaFifo<K, V, M>
where
    K: Clone + Eq + Hash,
    V: Clone,
    M: Clone,
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
    pub(super) fn relist(&mut self, items: Vec<(K, V)>, mark: M, known: &dyn Known<K, V>) {
        let seq = self.ledger.begin(Some(mark));
        // All of the first list has to wait; of later ones most is held already.
        if self.phase.relist(seq) {
            self.line
                .reserve(items.len().saturating_sub(self.line.len()));
        }
        let leave_alone = |(key, value)| match self.intake.admit(&key, value) {
            Some(value) if known.holds(&key, &value) && !self.is_queued(&key) => {
                Some((key, Some(value)))
            }
            Some(value) => {
                self.put_listed(key, value, seq);
                None
            }
            // It exists, so it must not be taken for gone (FM-53).
            None => Some((key, None)),
        };
        // Of a relist this is nearly everything: it stays in the memory it came in.
        let untouched: Vec<(K, Option<V>)> = items.into_iter().filter_map(leave_alone).collect();
        let untouched_at = |at: usize| &untouched[at].0;
        let positions = Positions::of(untouched.len(), untouched_at);
        let is_untouched = |key: &K| positions.find(key, untouched_at).is_some();
        let mut gone = self.gone_while_leased(&is_untouched);
        self.bury_waiting(seq, &is_untouched);
        known.for_each_key(&mut |key| {
            if !is_untouched(key) && !self.is_queued(key) {
                gone.push((key.clone(), known.get(key)));
            }
        });
        for (key, last) in gone {
            let delta = Delta::Deleted(Final::Unknown(last));
            self.put_counted(key, delta, seq, true);
        }
        self.phase.settle(&self.ledger);
        self.ledger.end();
    }

    /// DF-13: a reminder for every key held that has nothing newer waiting.
    pub(super) fn remind(&mut self, known: &dyn Known<K, V>) {
        let seq = self.ledger.begin(None);
        known.for_each(&mut |key, value| {
            if !self.is_queued(key) || planted!(ResyncOverPending) {
                self.put_counted(key.clone(), Delta::Sync(value.clone()), seq, false);
            }
        });
        self.ledger.end();
    }

    /// Appends `Replaced`; of a key listed twice the last object counts (FQ-8).
    fn put_listed(&mut self, key: K, value: V, seq: u64) {
        let delta = Delta::Replaced(value);
        planted!(ReplacedSwallowsDelete => {
            let stamped = Stamped { delta: delta.clone(), seq, relist: true, attempts: 0 };
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
                    relist: true,
                    attempts: 0,
                };
                if let Pushed::Appended = append(entry, stamped, &mut self.groups) {
                    self.ledger.add(seq);
                }
            }
        }
    }

    fn put_counted(&mut self, key: K, delta: Delta<V>, seq: u64, relist: bool) {
        let stamped = Stamped {
            delta,
            seq,
            relist,
            attempts: 0,
        };
        if let Pushed::Appended = self.put(key, stamped) {
            self.ledger.add(seq);
        }
    }

    /// Tombstones for what waits and is not in the list, unless its deletion waits (FQ-6).
    fn bury_waiting(&mut self, seq: u64, listed: &dyn Fn(&K) -> bool) {
        planted!(NoTombstoneForQueued => return);
        let twice = planted!(TombstoneTwice);
        for (key, slot) in self.line.iter_mut() {
            let newest = slot.deltas.newest_stamped();
            let gone = newest.delta.is_deleted() && !twice;
            if newest.seq == seq || gone || listed(key) {
                continue;
            }
            let delta = Delta::Deleted(Final::Unknown(newest.delta.object().cloned()));
            slot.deltas.push(Stamped {
                delta,
                seq,
                relist: true,
                attempts: 0,
            });
            self.ledger.add(seq);
            self.groups.join(&mut slot.group, seq);
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
