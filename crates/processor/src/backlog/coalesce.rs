//! A buffer with at most one pending entry per key, two after a deletion and a new addition.
//!
//! Entries sit in numbered slots, linked in the order in which their keys first waited; a table
//! finds the slot of a key and borrows the key from it. Taking, merging and annihilating cost
//! constant time; after a burst the slots are packed again.
//!
//! What two notifications become is decided by `compress`; this file only carries it out. It counts
//! nothing but what waits. What a merge displaces is handed out, to be dropped outside the lock.
//!
//! While a resync is in line, keys whose waiting addition is annihilated are remembered if the
//! resync's snapshot can show them: the handler must not be reminded of what it never heard of.
//!
//! - RB-4: <= 2 entries per key, 2 only for a deletion and an addition. `tests/coalescing.rs`
//! - RB-6: keys leave in the order in which they first waited. `tests/coalescing.rs`
//! - RB-8: per key two objects and <= 128 B besides the key. `examples/blocked_handler.rs`

use std::collections::HashSet;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;

use crate::backlog::compress::{Merge, compress};
use crate::backlog::pending_item::{Displaced, Item, settled};
use crate::notification::Notification;

/// Slots below which packing is not worth it.
const INITIAL: usize = 16;

/// The end of a chain of slots.
const NONE: u32 = u32::MAX;

/// What one push did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    /// Notifications that will not be delivered on their own: 1 for a merge, 2 when both vanish.
    pub(crate) coalesced: u64,
    /// Initial additions that will not be delivered (design 6.13).
    pub(crate) settled: u64,
}

struct Slot<K, T> {
    item: Item<K, T>,
    /// The addition after a deletion: the second of the two entries a key can have.
    again: Option<Box<Item<K, T>>>,
    since: u64,
    /// How many entries had been appended before this one.
    position: u64,
    previous: u32,
    next: u32,
}

/// See the top of this file.
pub(crate) struct CoalescingRing<K, T> {
    slots: Vec<Option<Slot<K, T>>>,
    free: Vec<u32>,
    keys: HashTable<u32>,
    hasher: RandomState,
    first: u32,
    last: u32,
    entries: usize,
    appended: u64,
    resync: Option<Vanished<K>>,
}

/// Keys that came before a resync and went while it was in line, unnoticed by the handler. No more
/// than waited when the resync was put in line.
struct Vanished<K> {
    before: u64,
    keys: HashSet<K>,
}

impl<K: Clone + Eq + Hash, T> CoalescingRing<K, T> {
    pub(crate) fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            keys: HashTable::new(),
            hasher: RandomState::new(),
            first: NONE,
            last: NONE,
            entries: 0,
            appended: 0,
            resync: None,
        }
    }

    /// Entries that wait: at most two per key.
    pub(crate) fn len(&self) -> usize {
        self.entries
    }

    #[cfg(any(test, fuzzing))]
    pub(crate) fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Whether something waits for this key.
    pub(crate) fn has_pending(&self, key: &K) -> bool {
        self.find(key).is_some()
    }

    /// A resync of the current state is put in line.
    pub(crate) fn resync_begins(&mut self) {
        self.resync = Some(Vanished {
            before: self.appended,
            keys: HashSet::new(),
        });
    }

    /// It is over.
    pub(crate) fn resync_ends(&mut self) {
        self.resync = None;
    }

    /// Whether the resync in line must not tell of this key: newer news of it wait, or it has gone
    /// without the handler ever hearing of it (RB-5, PR-2).
    pub(crate) fn overtakes_resync(&self, key: &K) -> bool {
        let vanished = |resync: &Vanished<K>| resync.keys.contains(key);
        (self.has_pending(key) && !planted!(ResyncIgnoresPending))
            || self.resync.as_ref().is_some_and(vanished)
    }

    /// When the first key in line began to wait.
    pub(crate) fn front_since(&self) -> Option<u64> {
        self.slots
            .get(self.first as usize)?
            .as_ref()
            .map(|slot| slot.since)
    }

    /// Adds what happened, merged with what waits for the key (RB-5).
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
            self.append(newer, since);
            return Merged::default();
        };
        let slot = self.slots[at as usize]
            .as_mut()
            .expect("RB-4: the table names filled slots");
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
                let key = newer.key().clone();
                let added = Notification::Added {
                    key,
                    object,
                    initial: false,
                };
                self.append_again(at, Item::Owned(added));
            }
        }
        if coalesced == 1 && planted!(MergedGoesToTheEnd) {
            self.unlink(at);
            self.link_last(at);
        }
        Merged { coalesced, settled }
    }

    /// Puts the addition of a new object behind the deletion of the one before.
    fn append_again(&mut self, at: u32, added: Item<K, T>) {
        let slot = self.slots[at as usize]
            .as_mut()
            .expect("RB-4: the table names filled slots");
        assert!(
            slot.again.is_none(),
            "RB-4: only a deletion has an entry behind it"
        );
        slot.again = Some(Box::new(added));
        self.entries += 1;
    }

    /// Takes the first entry in line. The addition behind a deletion stays first.
    pub(crate) fn pop(&mut self) -> Option<(u64, Arc<Notification<K, T>>)> {
        let at = self.first;
        let slot = self
            .slots
            .get_mut(at as usize)?
            .as_mut()
            .expect("RB-6: the chain is filled");
        let since = slot.since;
        self.entries -= 1;
        if let Some(again) = slot.again.take() {
            let item = std::mem::replace(&mut slot.item, *again);
            return Some((since, item.into_arc()));
        }
        let item = self.remove(at).item.into_arc();
        Some((since, item))
    }

    /// Drops the last entry of a slot: the object came and went unnoticed.
    fn annihilate(&mut self, at: u32, displaced: &mut Vec<Displaced<K, T>>) {
        let slot = self.slots[at as usize]
            .as_mut()
            .expect("RB-4: the table names filled slots");
        self.entries -= 1;
        match slot.again.take() {
            Some(again) => displaced.push(again.displaced()),
            None => {
                let slot = self.remove(at);
                if let Some(resync) = self.resync.as_mut()
                    && slot.position < resync.before
                    && !planted!(ResyncRemembersNothing)
                {
                    resync.keys.insert(slot.item.get().key().clone());
                }
                displaced.push(slot.item.displaced());
            }
        }
    }

    fn find(&self, key: &K) -> Option<u32> {
        let hash = self.hasher.hash_one(key);
        self.keys.find(hash, |at| self.key_of(*at) == key).copied()
    }

    fn key_of(&self, at: u32) -> &K {
        let slot = self.slots[at as usize]
            .as_ref()
            .expect("RB-4: the table names filled slots");
        slot.item.get().key()
    }

    fn append(&mut self, newer: &Arc<Notification<K, T>>, since: u64) {
        let hash = self.hasher.hash_one(newer.key());
        let item = Item::Shared(Arc::clone(newer));
        let slot = Slot {
            item,
            again: None,
            since,
            position: self.appended,
            previous: NONE,
            next: NONE,
        };
        let at = match self.free.pop() {
            Some(at) => {
                self.slots[at as usize] = Some(slot);
                at
            }
            None => {
                let at = u32::try_from(self.slots.len()).unwrap_or(NONE);
                assert!(at != NONE, "fewer than 2^32 keys wait in one listener");
                self.slots.push(Some(slot));
                at
            }
        };
        self.link_last(at);
        self.entries += 1;
        self.appended += 1;
        let (slots, hasher) = (&self.slots, &self.hasher);
        self.keys.insert_unique(hash, at, |at| {
            let slot = slots[*at as usize]
                .as_ref()
                .expect("RB-4: the table names filled slots");
            hasher.hash_one(slot.item.get().key())
        });
    }

    fn link_last(&mut self, at: u32) {
        let last = self.last;
        match self.slots.get_mut(last as usize).and_then(Option::as_mut) {
            Some(slot) => slot.next = at,
            None => self.first = at,
        }
        let slot = self.slots[at as usize]
            .as_mut()
            .expect("RB-6: a linked slot is filled");
        slot.previous = last;
        slot.next = NONE;
        self.last = at;
    }

    fn unlink(&mut self, at: u32) {
        let slot = self.slots[at as usize]
            .as_ref()
            .expect("RB-6: a linked slot is filled");
        let (previous, next) = (slot.previous, slot.next);
        match self
            .slots
            .get_mut(previous as usize)
            .and_then(Option::as_mut)
        {
            Some(slot) => slot.next = next,
            None => self.first = next,
        }
        match self.slots.get_mut(next as usize).and_then(Option::as_mut) {
            Some(slot) => slot.previous = previous,
            None => self.last = previous,
        }
    }

    fn remove(&mut self, at: u32) -> Slot<K, T> {
        let hash = self.hasher.hash_one(self.key_of(at));
        if let Ok(entry) = self.keys.find_entry(hash, |candidate| *candidate == at) {
            entry.remove();
        }
        self.unlink(at);
        let slot = self.slots[at as usize]
            .take()
            .expect("RB-4: a slot is removed once");
        self.free.push(at);
        let live = self.slots.len() - self.free.len();
        if self.slots.len() > INITIAL && self.slots.len() > 4 * live {
            self.pack(live);
        }
        slot
    }

    /// Gives memory back after a burst. Costs as much as the removals that led here.
    fn pack(&mut self, live: usize) {
        let mut packed = Vec::with_capacity((2 * live).max(INITIAL));
        let mut keys = HashTable::with_capacity(live);
        let hash_of = |slot: &Slot<K, T>| self.hasher.hash_one(slot.item.get().key());
        let mut at = self.first;
        while let Some(mut slot) = self.slots.get_mut(at as usize).and_then(Option::take) {
            at = slot.next;
            // Fits: the packed ones are fewer than the slots there were.
            let new = packed.len() as u32;
            slot.previous = new.checked_sub(1).unwrap_or(NONE);
            slot.next = if packed.len() + 1 == live {
                NONE
            } else {
                new + 1
            };
            let hash = hash_of(&slot);
            packed.push(Some(slot));
            keys.insert_unique(hash, new, |at| {
                let slot = packed[*at as usize].as_ref().expect("RB-4: just filled");
                hash_of(slot)
            });
        }
        assert_eq!(
            packed.len(),
            live,
            "RB-6: every waiting key is in the chain"
        );
        self.first = if live == 0 { NONE } else { 0 };
        self.last = (live as u32).checked_sub(1).unwrap_or(NONE);
        self.slots = packed;
        self.free = Vec::new();
        self.keys = keys;
    }
}
