//! The in-order queue: every change on its own, delivered in the order in which it came.
//!
//! client-go's RealFIFO, atomic half. A relist travels in one piece and is compared with the
//! store when it is applied, so its tombstones and their order are up to the consumer, and
//! so is a resync.

// FQ-5
// - FQ-2, RF-01: changes of all keys leave in arrival order; nothing is merged. `tests`
// - RF-05: a batch has distinct keys; a relist and a resync are leased alone, and so is an item
//   that failed before (FQ-11). `tests`
// - FQ-8: a key twice in a relist: the last object, at the place of the first. `tests`
// - FQ-9, RF-10: the initial population is the first relist, even an empty one. `tests`
// - FQ-11: what failed goes back to the head with its number. `tests`

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};
use std::mem;
use std::num::{NonZeroU32, NonZeroUsize};

use derive_where::derive_where;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::deltas::{Deltas, Pushed, Stamp, Stamped};
use crate::keys::hash::{self, KeyHash};
use crate::keys::pending_map::PendingMap;
use crate::known::Known;
use crate::lease::Item;
use crate::queue_core::leased::{Batch, Origin};
use crate::queue_core::ledger::Ledger;
use crate::queue_core::{Pending, QueueCore};
use crate::spare;
use crate::tombstone::Final;

/// Every change on its own, in the order of arrival across all keys.
///
/// ```
/// use std::num::NonZeroUsize;
/// use informer_deltafifo::{InOrderQueue, Queue};
///
/// let mut queue = InOrderQueue::<&str, u32, u64>::default();
/// queue.add("a", 1, 10)?;
/// queue.update("a", 2, 11)?;
/// let lease = queue.lease(NonZeroUsize::MAX).expect("two changes are pending");
/// assert_eq!(lease.items.len(), 1, "a lease has no key twice");
/// # Ok::<(), informer_deltafifo::Closed<u32>>(())
/// ```
// client-go: RF-01..14, atomic half
#[doc(alias = "RealFIFO")]
pub type InOrderQueue<K, V, P> = QueueCore<K, V, P, InOrder<K, V>>;

/// Pending items in the order of arrival.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
#[derive_where(Debug)]
#[derive_where(skip_inner)]
pub struct InOrder<K, V> {
    items: VecDeque<(Origin, Item<K, V>)>,
    hasher: KeyHash,
}

impl<K, V> Default for InOrder<K, V> {
    fn default() -> Self {
        Self {
            items: VecDeque::new(),
            hasher: hash::random(),
        }
    }
}

impl<K: Eq + Hash, V> InOrder<K, V> {
    /// How many items from the head are changes of one key each, no key twice; at most `max`.
    fn distinct(&self, max: usize) -> usize {
        let room = max.min(self.items.len());
        let hash = |key: &&K| self.hasher.hash_one(*key);
        let mut keys = HashTable::with_capacity(room);
        let items = self.items.iter().take(room).map(|(_, item)| item);
        let is_new = items.take_while(|&item| match item {
            Item::Key { key, deltas } if deltas.attempts() == 0 => {
                let is_it = |other: &&K| *other == key && !planted!(BatchRepeatsKey);
                let entry = keys.entry(hash(&key), is_it, hash);
                let is_new = matches!(entry, Entry::Vacant(_));
                entry.or_insert(key);
                is_new
            }
            Item::Key { .. } | Item::Replace { .. } | Item::Resync => false,
        });
        is_new.count()
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Pending<K, V> for InOrder<K, V> {
    #[inline]
    fn push(&mut self, key: K, stamped: Stamped<V>) -> Pushed<V> {
        let deltas = Deltas::stamped(stamped);
        self.items
            .push_back((Origin::Keys, Item::Key { key, deltas }));
        Pushed::Appended
    }

    #[inline]
    fn take(&mut self, max_keys: NonZeroUsize) -> Option<Batch<K, V>> {
        let origin = self.items.front()?.0;
        let count = match max_keys {
            NonZeroUsize::MIN => 1,
            // An item that failed before, or is not of one key, is leased alone.
            _ => self.distinct(max_keys.get()).max(1),
        };
        let next = || self.items.pop_front().expect(COUNTED).1;
        Some(Batch::of(origin, count, next))
    }

    fn give_back<P: Clone>(
        &mut self,
        item: Item<K, V>,
        origin: Origin,
        _: NonZeroU32,
        _: &mut Ledger<P>,
    ) -> Option<Final<V>> {
        planted!(NackToTail => {
            self.items.push_back((origin, item));
            return None;
        });
        self.items.push_front((origin, item));
        None
    }

    #[inline]
    fn shrink(&mut self) {
        spare::shrink(&mut self.items);
    }

    fn for_each_object(&self, visit: &mut dyn FnMut(&K, &V)) {
        self.items
            .iter()
            .for_each(|(_, item)| item.for_each_object(visit));
    }

    /// Each deletion is queued: whether the key is held is seen when it is applied.
    // RF-01
    fn last_state<P: Clone>(
        queue: &mut InOrderQueue<K, V, P>,
        key: &K,
        last: Final<V>,
        _: &dyn Known<K, V>,
    ) -> Option<Final<V>> {
        // The deletion itself must not be lost with its object; the consumer has an older one.
        let last = queue.intake.admit_last(key, last);
        Some(last.unwrap_or(Final::Unknown(None)))
    }

    fn replace<P: Clone>(
        queue: &mut InOrderQueue<K, V, P>,
        items: Vec<(K, V)>,
        position: P,
        known: &dyn Known<K, V>,
    ) -> Vec<(K, V)> {
        let (mut distinct, mut left_out) = (PendingMap::new(), Vec::new());
        distinct.reserve(items.len());
        for (key, value) in items {
            match queue.intake.admit(&key, value) {
                Some(value) => {
                    planted!(FirstListedWins => if distinct.contains(&key) {
                        continue;
                    });
                    let (listed, refused) = distinct.push_back(key, value);
                    if let Some((key, newer)) = refused {
                        left_out.push((key, mem::replace(listed, newer)));
                    }
                }
                // It exists, so it must not be taken for gone (FM-53).
                None => {
                    if let Some(held) = queue.newest(&key, known) {
                        distinct.push_back(key, held);
                    }
                }
            }
        }
        let items = distinct.map_all(|item| item);
        queue.phase.relist(queue.ledger.next());
        queue.whole(Item::Replace { items }, Some(position));
        left_out
    }

    fn resync<P: Clone>(queue: &mut InOrderQueue<K, V, P>, _: &dyn Known<K, V>) {
        queue.whole(Item::Resync, None);
    }
}

impl<K: Clone + Eq + Hash, V: Clone, P: Clone> InOrderQueue<K, V, P> {
    /// Queues an item that is no change of one key.
    fn whole(&mut self, item: Item<K, V>, position: Option<P>) {
        let origin = Origin::Whole(Stamp::new(self.ledger.begin(position, 1)));
        self.pending.items.push_back((origin, item));
    }

    /// The newest object of `key` once all that is queued is applied. Only needed when an object
    /// was rejected, so a search from the newest item is good enough.
    fn newest(&self, key: &K, known: &dyn Known<K, V>) -> Option<V> {
        let leased = self
            .leased
            .as_ref()
            .map_or(&[][..], |leased| leased.items());
        let pending = self.pending.items.iter().map(|(_, item)| item);
        for item in leased.iter().chain(pending).rev() {
            match item {
                Item::Key { key: other, deltas } if other == key => {
                    let newest = deltas.newest();
                    return newest.object().filter(|_| !newest.is_deleted()).cloned();
                }
                Item::Replace { items } => {
                    let item = items.iter().find(|(other, _)| other == key);
                    return item.map(|(_, value)| value.clone());
                }
                Item::Key { .. } | Item::Resync => {}
            }
        }
        known.get(key)
    }
}

const COUNTED: &str = "each item that was counted is pending";
