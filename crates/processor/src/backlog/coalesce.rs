//! A buffer with at most one pending entry per key, two after a deletion and a new addition.
//!
//! Entries stand in the order in which their keys first waited. A table finds the place of a key
//! and borrows the key from it. Taking, merging and annihilating cost amortised constant time:
//! annihilation leaves a hole, and when holes outnumber keys the entries are packed.
//!
//! `compress` decides what two notifications become; this file carries it out. A displaced value
//! leaves through `displaced`, because its drop may run user code, which must not run under a lock.
//!
//! While a resync is queued, the buffer remembers keys whose pending addition is annihilated if the
//! resync's snapshot can show them. Otherwise the handler would receive an update of an object that
//! it was never notified of.

// - RB-4: <= 2 entries per key, 2 only for a deletion and an addition. `tests/coalescing.rs`
// - RB-6: keys leave in the order in which they first waited. `tests/coalescing.rs`
// - RB-8: per key two objects and <= 128 B besides the key. `examples/blocked_handler.rs`

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

use derive_where::derive_where;
use hashbrown::HashTable;

use crate::backlog::checkpoints::Checkpoints;
use crate::backlog::compress::{Merge, compress};
use crate::backlog::pending_item::{Displaced, Item, settled};
use crate::notification::{Added, Notification};

/// The number of slots below which packing and shrinking are not worth it.
const INITIAL: usize = 16;

/// The effect of one push on the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    /// Notifications that will not be delivered on their own: 1 for a merge, 2 when both vanish.
    pub(crate) coalesced: u64,
    /// Initial additions that will not be delivered.
    pub(crate) settled: u64,
}

struct Slot<K, T> {
    item: Item<K, T>,
    /// The addition after a deletion: the second of the two entries a key can have.
    again: Option<Box<Item<K, T>>>,
    since: u64,
}

/// A buffer with one pending entry per key. See the module.
#[derive_where(Default)]
pub(crate) struct CoalescingRing<K, T> {
    /// The slots from position `first` on, `None` where an entry was annihilated. The first one is
    /// always filled.
    slots: VecDeque<Option<Slot<K, T>>>,
    pub(crate) first: u64,
    /// The positions of the filled slots.
    keys: HashTable<u64>,
    hasher: RandomState,
    /// The number of pending entries: at most two per key.
    pub(crate) entries: usize,
    resync: Option<Vanished<K>>,
    pub(crate) checkpoints: Checkpoints,
}

/// The keys that were pending before position `before`, where a resync was queued, and whose
/// addition was annihilated since.
pub(crate) struct Vanished<K> {
    before: u64,
    keys: HashSet<K>,
}

impl<K: Clone + Eq + Hash, T> CoalescingRing<K, T> {
    #[cfg(any(test, fuzzing))]
    pub(crate) fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    /// Whether an entry is pending for this key.
    pub(crate) fn has_pending(&self, key: &K) -> bool {
        self.find(key).is_some()
    }

    /// Records that a resync of the current state was queued.
    pub(crate) fn resync_begins(&mut self) {
        self.resync = Some(Vanished {
            before: self.end(),
            keys: HashSet::new(),
        });
    }

    /// Records that the resync is over. Returns keys, whose drops may run user code.
    #[must_use]
    pub(crate) fn resync_ends(&mut self) -> Option<Vanished<K>> {
        self.resync.take()
    }

    /// Whether the queued resync must skip this key: a newer notification of it is pending, or its
    /// addition was annihilated.
    // RB-5, PR-2.
    pub(crate) fn overtakes_resync(&self, key: &K) -> bool {
        let vanished = |resync: &Vanished<K>| resync.keys.contains(key);
        (self.has_pending(key) && !planted!(ResyncIgnoresPending))
            || self.resync.as_ref().is_some_and(vanished)
    }

    /// The time since when the first key waits.
    pub(crate) fn front_since(&self) -> Option<u64> {
        Some(self.slots.front()?.as_ref()?.since)
    }

    /// Adds a notification, merged with the pending entry of its key.
    // RB-5.
    pub(crate) fn push(
        &mut self,
        newer: &Arc<Notification<K, T>>,
        since: u64,
        displaced: &mut Vec<Displaced<K, T>>,
    ) -> Merged {
        let Some(at) = self
            .find(newer.key())
            .filter(|_| !planted!(CoalesceAppends))
        else {
            self.append(Slot {
                item: Item::Shared(Arc::clone(newer)),
                again: None,
                since,
            });
            return Merged::default();
        };
        let slot = self.slot_mut(at);
        let older = slot.again.as_deref_mut().unwrap_or(&mut slot.item);
        let merge = compress(older.get(), newer);
        let settled = settled(older.get(), newer, &merge);
        let mut coalesced = 1;
        match merge {
            Merge::KeepOlder => {}
            Merge::KeepNewer => older.replace(Item::Shared(Arc::clone(newer)), displaced),
            Merge::Added(object, initial) => older.become_added(object, initial, displaced),
            Merge::Updated(old, new, cause) => older.become_updated(old, new, cause, displaced),
            Merge::Unknown(last) => older.become_unknown(last, displaced),
            Merge::Annihilate => {
                coalesced = 2;
                self.annihilate(at, displaced);
            }
            Merge::Append => {
                coalesced = 0;
                self.append_again(at, Item::Shared(Arc::clone(newer)));
            }
            Merge::AppendAdded(object) => {
                coalesced = 0;
                let added = Added::new(newer.key().clone(), object);
                self.append_again(at, Item::Owned(added.into()));
            }
        }
        if coalesced == 1 && planted!(MergedGoesToTheEnd) {
            self.entries -= 1;
            let slot = self.remove(at);
            self.append(slot);
        }
        Merged { coalesced, settled }
    }

    /// Puts the addition of a new object behind the deletion of the one before.
    fn append_again(&mut self, at: u64, added: Item<K, T>) {
        let slot = self.slot_mut(at);
        assert!(
            slot.again.is_none(),
            "RB-4: only a deletion has an entry behind it"
        );
        slot.again = Some(Box::new(added));
        self.entries += 1;
    }

    /// Takes the first entry. The addition behind a deletion stays first.
    pub(crate) fn pop(&mut self) -> Option<(u64, Arc<Notification<K, T>>)> {
        let slot = self.slots.front_mut()?.as_mut();
        let slot = slot.expect("RB-6: the first slot is filled");
        self.entries -= 1;
        let since = slot.since;
        let item = match slot.again.take() {
            Some(again) => std::mem::replace(&mut slot.item, *again),
            None => self.remove(self.first).item,
        };
        Some((since, item.into_arc()))
    }

    /// Drops the last entry of a slot: the object came and went between two deliveries.
    fn annihilate(&mut self, at: u64, displaced: &mut Vec<Displaced<K, T>>) {
        self.entries -= 1;
        if let Some(again) = self.slot_mut(at).again.take() {
            displaced.push(again.displaced());
            return;
        }
        // Before the removal, which may pack.
        if let Some(resync) = &mut self.resync
            && at < resync.before
            && !planted!(ResyncRemembersNothing)
        {
            let key = key_at(&self.slots, self.first, at);
            resync.keys.insert(key.clone());
        }
        displaced.push(self.remove(at).item.displaced());
    }

    /// The position behind the last slot.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.slots.len() as u64
    }

    fn slot_mut(&mut self, at: u64) -> &mut Slot<K, T> {
        let slot = self.slots[(at - self.first) as usize].as_mut();
        slot.expect("RB-4: the table names filled slots")
    }

    fn find(&self, key: &K) -> Option<u64> {
        let hash = self.hasher.hash_one(key);
        let is_it = |at: &u64| key_at(&self.slots, self.first, *at) == key;
        self.keys.find(hash, is_it).copied()
    }

    fn append(&mut self, slot: Slot<K, T>) {
        let (at, hash) = (self.end(), self.hasher.hash_one(slot.item.get().key()));
        self.slots.push_back(Some(slot));
        self.entries += 1;
        let (slots, first, hasher) = (&self.slots, self.first, &self.hasher);
        let hash_of = |at: &u64| hasher.hash_one(key_at(slots, first, *at));
        self.keys.insert_unique(hash, at, hash_of);
    }

    fn remove(&mut self, at: u64) -> Slot<K, T> {
        let hash = self.hasher.hash_one(key_at(&self.slots, self.first, at));
        if let Ok(entry) = self.keys.find_entry(hash, |candidate| *candidate == at) {
            entry.remove();
        }
        let slot = self.slots[(at - self.first) as usize].take();
        while let Some(None) = self.slots.front() {
            self.slots.pop_front();
            self.first += 1;
        }
        let live = self.keys.len();
        if self.slots.len() > INITIAL.max(2 * live) || self.slots.capacity() > INITIAL.max(4 * live)
        {
            self.pack();
        }
        slot.expect("RB-4: a slot is removed once")
    }

    /// Closes the holes and gives memory back. Costs as much as the removals that led here.
    fn pack(&mut self) {
        if let Some(resync) = &mut self.resync {
            let before = resync.before.saturating_sub(self.first) as usize;
            let filled = self.slots.iter().take(before).flatten().count();
            resync.before = self.first + filled as u64;
        }
        self.renumber_checkpoints();
        let live = self.keys.len();
        self.slots.retain(Option::is_some);
        assert_eq!(self.slots.len(), live, "RB-6: every pending key has a slot");
        self.slots.shrink_to((2 * live).max(INITIAL));
        self.keys = HashTable::with_capacity(live);
        let (slots, first, hasher) = (&self.slots, self.first, &self.hasher);
        let hash_of = |at: &u64| hasher.hash_one(key_at(slots, first, *at));
        for at in first..first + live as u64 {
            self.keys.insert_unique(hash_of(&at), at, hash_of);
        }
    }

    /// Moves each checkpoint to the position that the slot at it, or the next one, will have.
    fn renumber_checkpoints(&mut self) {
        if planted!(PackForgetsCheckpoints) {
            return;
        }
        let (slots, first) = (&self.slots, self.first);
        // Checkpoints are in order, so that each slot is counted once for all of them.
        let (mut counted, mut filled) = (0, 0);
        self.checkpoints.renumber(|position| {
            let before = position.saturating_sub(first) as usize;
            filled += slots.range(counted..before).flatten().count();
            counted = before;
            first + filled as u64
        });
    }
}

fn key_at<K, T>(slots: &VecDeque<Option<Slot<K, T>>>, first: u64, at: u64) -> &K {
    let slot = slots[(at - first) as usize].as_ref();
    let slot = slot.expect("RB-4: the table names filled slots");
    slot.item.get().key()
}
