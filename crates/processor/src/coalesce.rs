//! A buffer with at most one pending entry per key, two after a deletion and a new addition.
//!
//! Entries sit in numbered slots, linked in the order in which their keys first waited; a table
//! finds the slot of a key and borrows the key from it. Taking, merging and annihilating cost
//! constant time; after a burst the slots are packed again.
//!
//! What two notifications become is decided by `compress`; this file only carries it out. It counts
//! nothing but what waits. What a merge displaces is handed out, to be dropped outside the lock.
//!
//! - RB-4: <= 2 entries per key, 2 only for a deletion and an addition. `proof/coalescing.rs`
//! - RB-6: keys leave in the order in which they first waited. `proof/coalescing.rs`
//! - RB-8: per key two objects and <= 128 B besides the key. `examples/blocked_handler.rs`

use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;

use crate::compress::{Merge, compress};
use crate::notification::Notification;

/// Slots below which packing is not worth it.
const INITIAL: usize = 16;

/// The end of a chain of slots.
const NONE: u32 = u32::MAX;

/// Something a merge no longer needs. Its drop may run user code, so it leaves the lock first.
pub(crate) enum Displaced<K, T> {
    Shared { _later: Arc<Notification<K, T>> },
    Owned { _later: Notification<K, T> },
    Object { _later: Arc<T> },
}

/// What one push did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    /// Notifications that will not be delivered on their own: 1 for a merge, 2 when both vanish.
    pub(crate) coalesced: u64,
    /// Initial additions that will not be delivered (design 6.13).
    pub(crate) settled: u64,
}

/// A waiting notification: still the one all listeners share, or one made by a merge.
enum Item<K, T> {
    Shared(Arc<Notification<K, T>>),
    Owned(Notification<K, T>),
}

impl<K, T> Item<K, T> {
    fn get(&self) -> &Notification<K, T> {
        match self {
            Self::Shared(shared) => shared,
            Self::Owned(owned) => owned,
        }
    }

    fn into_arc(self) -> Arc<Notification<K, T>> {
        match self {
            Self::Shared(shared) => shared,
            Self::Owned(owned) => Arc::new(owned),
        }
    }

    fn displaced(self) -> Displaced<K, T> {
        match self {
            Self::Shared(shared) => Displaced::Shared { _later: shared },
            Self::Owned(owned) => Displaced::Owned { _later: owned },
        }
    }
}

struct Slot<K, T> {
    item: Item<K, T>,
    /// The addition after a deletion: the second of the two entries a key can have.
    again: Option<Box<Item<K, T>>>,
    since: u64,
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
        }
    }

    /// Entries that wait: at most two per key.
    pub(crate) fn len(&self) -> usize {
        self.entries
    }

    #[cfg(test)]
    pub(crate) fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Whether something waits for this key.
    pub(crate) fn has_pending(&self, key: &K) -> bool {
        self.find(key).is_some()
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
        newer: Arc<Notification<K, T>>,
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
        let initial_before = u64::from(older.get().is_initial()) + u64::from(newer.is_initial());
        let merge = compress(older.get(), &newer);
        let initial_after = match &merge {
            Merge::KeepOlder => older.get().is_initial(),
            Merge::KeepNewer => newer.is_initial(),
            Merge::Added { initial, .. } => *initial,
            Merge::Updated { .. } | Merge::Annihilate => false,
            // The older one is a deletion, so that the flag can only be the new one's.
            Merge::Append => newer.is_initial(),
            Merge::AppendAdded { .. } => false,
        };
        let settled = initial_before - u64::from(initial_after);
        let coalesced = match merge {
            Merge::KeepOlder => {
                displaced.push(Displaced::Shared { _later: newer });
                1
            }
            Merge::KeepNewer => {
                displaced.push(std::mem::replace(older, Item::Shared(newer)).displaced());
                1
            }
            Merge::Added { object, initial } => {
                add(older, object, initial, displaced);
                displaced.push(Displaced::Shared { _later: newer });
                1
            }
            Merge::Updated { old, new, cause } => {
                update(older, (old, new, cause), displaced);
                displaced.push(Displaced::Shared { _later: newer });
                1
            }
            Merge::Annihilate => {
                self.annihilate(at, displaced);
                displaced.push(Displaced::Shared { _later: newer });
                2
            }
            Merge::Append => {
                assert!(
                    slot.again.is_none(),
                    "RB-4: only a deletion has an entry behind it"
                );
                slot.again = Some(Box::new(Item::Shared(newer)));
                self.entries += 1;
                0
            }
            Merge::AppendAdded { object } => {
                assert!(
                    slot.again.is_none(),
                    "RB-4: only a deletion has an entry behind it"
                );
                let key = newer.key().clone();
                let added = Notification::Added {
                    key,
                    object,
                    initial: false,
                };
                slot.again = Some(Box::new(Item::Owned(added)));
                self.entries += 1;
                displaced.push(Displaced::Shared { _later: newer });
                0
            }
        };
        let settled = if planted!(AnnihilationUnsettled) {
            0
        } else {
            settled
        };
        if coalesced == 1 && planted!(MergedGoesToTheEnd) {
            self.unlink(at);
            self.link_last(at);
        }
        Merged { coalesced, settled }
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
            None => displaced.push(self.remove(at).item.displaced()),
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

    fn append(&mut self, newer: Arc<Notification<K, T>>, since: u64) {
        let hash = self.hasher.hash_one(newer.key());
        let item = Item::Shared(newer);
        let slot = Slot {
            item,
            again: None,
            since,
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

/// Makes the waiting addition one of `object`. Copies the key at the first merge only.
fn add<K: Clone, T>(
    older: &mut Item<K, T>,
    object: Arc<T>,
    initial: bool,
    displaced: &mut Vec<Displaced<K, T>>,
) {
    if let Item::Owned(Notification::Added {
        object: waiting,
        initial: flag,
        ..
    }) = older
    {
        displaced.push(Displaced::Object {
            _later: std::mem::replace(waiting, object),
        });
        *flag = initial;
        return;
    }
    let key = older.get().key().clone();
    let merged = Item::Owned(Notification::Added {
        key,
        object,
        initial,
    });
    displaced.push(std::mem::replace(older, merged).displaced());
}

/// Makes the waiting update one to a newer state. Copies the key at the first merge only.
fn update<K: Clone, T>(
    older: &mut Item<K, T>,
    (old, new, cause): (Arc<T>, Arc<T>, crate::notification::Cause),
    displaced: &mut Vec<Displaced<K, T>>,
) {
    if let Item::Owned(Notification::Updated {
        old: from,
        new: to,
        cause: why,
        ..
    }) = older
    {
        displaced.push(Displaced::Object {
            _later: std::mem::replace(from, old),
        });
        displaced.push(Displaced::Object {
            _later: std::mem::replace(to, new),
        });
        *why = cause;
        return;
    }
    let key = older.get().key().clone();
    let merged = Item::Owned(Notification::Updated {
        key,
        old,
        new,
        cause,
    });
    displaced.push(std::mem::replace(older, merged).displaced());
}
