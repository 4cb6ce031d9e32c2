//! The default queue: per key, an ordered list of changes; keys in the order in which they
//! became pending.
//!
//! A key is pending once however often its object changes, so a busy object cannot starve a quiet
//! one, and its changes are leased together. Order is per key only; the
//! [`InOrderQueue`](crate::InOrderQueue) keeps it across keys.

// FM-90
// - FQ-1: a key is pending exactly if it has a change, and once. `pending_map`, `deltas`, `tests`
// - FQ-2, FQ-3: per key nothing is lost or reordered. `tests`
// - FQ-5, FQ-6, DF-07, DF-08: a relist reports exactly what vanished, with the newest object
//   known, and nothing twice; its changes follow what was pending before (`replace`). `tests`
// - FQ-7, DF-13: a resync never touches a key with pending or leased changes. `tests`
// - FQ-9, DF-10, DF-11: `phase`. FQ-11: `queue_core`. FQ-12, DF-14: `transform`.
// - FQ-11: what failed before is leased alone, so that in the end only the culprit of a batch
//   that panics is exhausted, and nothing behind it is delayed for ever. `tests`
// - leased changes count as queued. `tests`, planted bugs included
// - a batch takes a group whole or not at all. `tests`

pub(crate) mod groups;
mod replace;

use std::hash::Hash;
use std::num::{NonZeroU32, NonZeroUsize};

use derive_where::derive_where;

#[cfg(any(test, sim))]
use crate::delta::Delta;
use crate::deltas::{Deltas, Pushed, Stamped};
use crate::keys::pending_map::PendingMap;
use crate::known::Known;
use crate::lease::{Item, Items};
use crate::queue_core::leased::{Batch, Origin};
use crate::queue_core::ledger::Ledger;
use crate::queue_core::{Pending, QueueCore};
use crate::tombstone::Final;

use groups::{GroupId, Groups};

/// Per key an ordered list of changes, keys in the order in which they became pending.
///
/// `K` is the key, `V` the object (cheap to clone, usually an `Arc`), `P` the position.
///
/// ```
/// use std::num::NonZeroUsize;
/// use informer_deltafifo::{DeltaFifo, Item, Queue};
///
/// let mut queue = DeltaFifo::<&str, u32, u64>::default();
/// queue.add("a", 1, 10)?;
/// queue.add("b", 1, 11)?;
/// queue.update("a", 2, 12)?;
/// let lease = queue.lease(NonZeroUsize::MAX).expect("two keys are pending");
/// let sizes = lease.items.iter().map(|item| match item {
///     Item::Key { deltas, .. } => deltas.len(),
///     Item::Replace { .. } | Item::Resync => 0,
/// });
/// assert_eq!(sizes.collect::<Vec<_>>(), [2, 1], "per key");
/// # Ok::<(), informer_deltafifo::Closed<u32>>(())
/// ```
// client-go: DF-01..14
#[doc(alias = "DeltaFIFO")]
pub type DeltaFifo<K, V, P> = QueueCore<K, V, P, PerKey<K, V>>;

/// Pending changes by key.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
#[derive_where(Debug)]
#[derive_where(skip_inner)]
pub struct PerKey<K, V> {
    map: PendingMap<K, Slot<V>>,
    groups: Groups,
}

/// The pending changes of one key.
#[derive(Clone)]
struct Slot<V> {
    deltas: Deltas<V>,
    /// The group that the key is tied to.
    group: Option<GroupId>,
}

impl<V> Slot<V> {
    #[inline]
    fn new(stamped: Stamped<V>) -> Self {
        let deltas = Deltas::stamped(stamped);
        Self {
            deltas,
            group: None,
        }
    }
}

impl<K: Eq + Hash, V> Default for PerKey<K, V> {
    fn default() -> Self {
        Self {
            map: PendingMap::new(),
            groups: Groups::default(),
        }
    }
}

impl<K: Clone + Eq + Hash, V: Clone> PerKey<K, V> {
    /// Puts a change behind those that are pending for its key, or the key behind all others, and
    /// ties the key to the group of a relist. The caller counts the change.
    #[inline]
    fn put(&mut self, key: K, stamped: Stamped<V>, relist: Option<GroupId>) -> Pushed<V> {
        planted!(UpdateSwallowsDelete => if let Some(swallowed) = self.swallow(&key, &stamped) {
            return Pushed::Merged(swallowed);
        });
        let (slot, refused) = self.map.push_back(key, Slot::new(stamped));
        if let Some(relist) = relist {
            self.groups.join(&mut slot.group, relist);
        }
        match refused {
            None => Pushed::Appended,
            Some((_, newer)) => slot.deltas.append(newer.deltas),
        }
    }

    /// Takes keys that are in no group from the front, at most `max_keys`.
    #[inline]
    fn take_keys(&mut self, max_keys: NonZeroUsize) -> Batch<K, V> {
        let failed = |slot: &Slot<V>| slot.deltas.attempts() > 0;
        let count = match self.map.front() {
            Some(slot) if max_keys == NonZeroUsize::MIN || failed(slot) => 1,
            _ => {
                let all = self.map.iter().take(max_keys.get());
                all.take_while(|(_, _, slot)| slot.group.is_none() && !failed(slot))
                    .count()
            }
        };
        if count > 1 && count == self.map.len() {
            return self.take_all(Origin::Keys);
        }
        let next = || into_item(self.map.pop_front().expect(COUNTED));
        Batch::of(Origin::Keys, count, next)
    }

    fn take_all(&mut self, origin: Origin) -> Batch<K, V> {
        let count = self.map.len();
        if count > MANY {
            let items = Items::many(self.map.map_all(into_item));
            return Batch { items, origin };
        }
        let mut all = self.map.take_all();
        Batch::of(origin, count, || into_item(all.next().expect(COUNTED)))
    }

    /// Takes all keys that are tied to `group`, in their order.
    fn take_group(&mut self, group: GroupId) -> Batch<K, V> {
        let root = self.groups.root(group);
        let origin = Origin::Group(group);
        let members = self.groups.members(root);
        if members == self.map.len() {
            self.groups.dissolve(root);
            let batch = self.take_all(origin);
            self.map.shrink();
            return batch;
        }
        let root_of = |slot: &Slot<V>| slot.group.map(|group| self.groups.root(group));
        let tied = self
            .map
            .iter()
            .filter(|(_, _, slot)| root_of(slot) == Some(root));
        let indexes: Vec<_> = tied.map(|(at, ..)| at).take(members).collect();
        assert_eq!(indexes.len(), members, "every member of a group is pending");
        self.groups.dissolve(root);
        let mut indexes = indexes.into_iter();
        let next = || into_item(self.map.take(indexes.next().expect(COUNTED)));
        Batch::of(origin, members, next)
    }

    /// A planted bug: a change over a pending deletion takes its place, which is returned.
    #[cfg(any(test, sim))]
    fn swallow(&mut self, key: &K, stamped: &Stamped<V>) -> Option<Final<V>> {
        let newest = &mut self.map.get_mut(key)?.deltas.newest_mut().delta;
        match std::mem::replace(newest, stamped.delta.clone()) {
            Delta::Deleted(swallowed) if !newest.is_deleted() => Some(swallowed),
            kept => {
                *newest = kept;
                None
            }
        }
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Pending<K, V> for PerKey<K, V> {
    #[inline]
    fn push(&mut self, key: K, stamped: Stamped<V>) -> Pushed<V> {
        self.put(key, stamped, None)
    }

    #[inline]
    fn take(&mut self, max_keys: NonZeroUsize) -> Option<Batch<K, V>> {
        Some(match self.map.front()?.group {
            Some(group) => self.take_group(group),
            None => self.take_keys(max_keys),
        })
    }

    /// A group comes back as a group. For its last attempt a key leaves it and is leased alone, so
    /// that the culprit is given up and not the whole relist.
    fn give_back<P: Clone>(
        &mut self,
        item: Item<K, V>,
        origin: Origin,
        max_attempts: NonZeroU32,
        ledger: &mut Ledger<P>,
    ) -> Option<Final<V>> {
        let Item::Key { key, mut deltas } = item else {
            unreachable!("this queue leases keys only")
        };
        planted!(NackForgetsNewer => drop(self.map.remove(&key)));
        let is_last = deltas.newest_stamped().stamp.failed().attempts >= max_attempts.get();
        let (mut group, mut merged) = (None, None);
        if let Some(slot) = self.map.remove(&key) {
            group = slot.group;
            let newer = slot.deltas.oldest_seq();
            if let Pushed::Merged(last) = deltas.append(slot.deltas) {
                ledger.done(newer, false);
                merged = Some(last);
            }
        }
        if let Origin::Group(leased) = origin
            && !is_last
        {
            self.groups.join(&mut group, leased);
        }
        planted!(NackToTail => {
            self.map.push_back(key, Slot { deltas, group });
            return merged;
        });
        self.map.push_front(key, Slot { deltas, group });
        merged
    }

    #[inline]
    fn shrink(&mut self) {
        self.map.shrink();
    }

    fn for_each_object(&self, visit: &mut dyn FnMut(&K, &V)) {
        for (_, key, slot) in self.map.iter() {
            slot.deltas.objects().for_each(|object| visit(key, object));
        }
    }

    fn last_state<P: Clone>(
        queue: &mut DeltaFifo<K, V, P>,
        key: &K,
        last: Final<V>,
        known: &dyn Known<K, V>,
    ) -> Option<Final<V>> {
        if !known.contains(key) && !queue.is_queued(key) {
            return None;
        }
        // The deletion itself must not be lost with its object.
        let last = queue.intake.admit_last(key, last);
        Some(last.unwrap_or_else(|| Final::Unknown(queue.newest(key, known))))
    }

    fn replace<P: Clone>(
        queue: &mut DeltaFifo<K, V, P>,
        items: Vec<(K, V)>,
        position: P,
        known: &dyn Known<K, V>,
    ) -> Vec<(K, V)> {
        queue.relist(items, position, known)
    }

    fn resync<P: Clone>(queue: &mut DeltaFifo<K, V, P>, known: &dyn Known<K, V>) {
        queue.remind(known);
    }
}

#[inline]
fn into_item<K, V>((key, slot): (K, Slot<V>)) -> Item<K, V> {
    let deltas = slot.deltas;
    Item::Key { key, deltas }
}

/// More keys than this are leased in the memory in which they are pending.
const MANY: usize = 1024;

const COUNTED: &str = "each entry that was counted is pending";
