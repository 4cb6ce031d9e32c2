//! The lease that is out, as the queue sees it.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::num::NonZeroU32;

use derive_where::derive_where;

use crate::delta_fifo::groups::GroupId;
use crate::deltas::{Deltas, Stamp};
use crate::keys::index::KeyIndex;
use crate::lease::{Exhausted, Item, Items, LeaseId};

/// Items to be leased together.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
pub(crate) struct Batch<K, V> {
    pub(crate) items: Items<K, V>,
    pub(crate) origin: Origin,
}

/// Where the items of a batch were pending.
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    /// Each on its own; the changes have the numbers of their calls.
    Keys,
    /// In this group of a `DeltaFifo`.
    Group(GroupId),
    /// A relist or a resync of an `InOrderQueue`, which is leased alone.
    Whole(Stamp),
}

impl<K, V> Batch<K, V> {
    /// Makes a batch of the next `count` items.
    #[inline]
    pub(crate) fn of(origin: Origin, count: usize, next: impl FnMut() -> Item<K, V>) -> Self {
        let items = Items::few(count, next);
        Self { items, origin }
    }
}

impl Origin {
    /// After one more failed attempt.
    pub(super) fn failed(self) -> Self {
        match self {
            Self::Whole(stamp) => Self::Whole(stamp.failed()),
            Self::Keys | Self::Group(_) => self,
        }
    }

    /// Visits the number of the call behind each change in an item of the batch.
    #[inline]
    pub(crate) fn for_each_seq<K, V>(self, item: &Item<K, V>, mut visit: impl FnMut(u64)) {
        match (item, self) {
            (Item::Key { deltas, .. }, _) => deltas.for_each_seq(visit),
            (Item::Replace { .. } | Item::Resync, Self::Whole(stamp)) => visit(stamp.seq),
            (Item::Replace { .. } | Item::Resync, _) => unreachable!("{WHOLE}"),
        }
    }
}

/// The lease that is out.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
#[derive_where(Debug)]
pub(crate) struct Leased<K, V> {
    pub(super) id: LeaseId,
    #[derive_where(skip(Debug))]
    pub(super) batch: Batch<K, V>,
    /// Number of the newest call with a change in it.
    pub(super) newest: u64,
    /// Whether the consumer has it. A panic in `Clone` of a position or an object may prevent
    /// that; then the next call of `lease` delivers it.
    pub(super) is_delivered: bool,
    /// Indexes of keys in the batch; made when first needed, because most leases are settled
    /// before.
    #[derive_where(skip(Debug))]
    pub(super) index: Option<Box<KeyIndex>>,
}

impl<K, V> Leased<K, V> {
    pub(crate) fn items(&self) -> &[Item<K, V>] {
        &self.batch.items
    }
}

/// Copies of items that failed once more.
pub(super) struct Failed<K, V> {
    /// The parts that failed too often.
    pub(super) exhausted: Vec<Exhausted<K, V>>,
    /// The parts to be tried again.
    pub(super) again: Vec<Item<K, V>>,
}

impl<K: Clone, V: Clone> Failed<K, V> {
    /// Copies the items at `failed`, each index once and in order.
    pub(super) fn of(
        batch: &Batch<K, V>,
        failed: &BTreeSet<usize>,
        max_attempts: NonZeroU32,
    ) -> Self {
        let (mut exhausted, mut again) = (Vec::new(), Vec::new());
        let mut give_up = |item, attempts| {
            let attempts = NonZeroU32::new(attempts).unwrap_or(NonZeroU32::MIN);
            exhausted.push(Exhausted { item, attempts });
        };
        for &at in failed {
            match (batch.items[at].clone(), batch.origin.failed()) {
                (Item::Key { key, deltas }, _) => {
                    // A change that joined the key between two attempts is not the culprit.
                    let (given_up, retried) = deltas.failed(max_attempts.get());
                    if let Some(deltas) = given_up {
                        let (key, attempts) = (key.clone(), deltas.attempts());
                        give_up(Item::Key { key, deltas }, attempts);
                    }
                    again.extend(retried.map(|deltas| Item::Key { key, deltas }));
                }
                (item, Origin::Whole(stamp)) if stamp.attempts >= max_attempts.get() => {
                    give_up(item, stamp.attempts);
                }
                (item, _) => again.push(item),
            }
        }
        Self { exhausted, again }
    }
}

impl<K: Eq + Hash, V> Leased<K, V> {
    /// The leased changes of each key, in order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&K, &Deltas<V>)> {
        self.items().iter().map(key_of)
    }

    /// The leased changes of `key`.
    pub(crate) fn deltas(&mut self, key: &K) -> Option<&Deltas<V>> {
        let items = &self.batch.items;
        let key_at = |at: usize| key_of(&items[at]).0;
        let index = self
            .index
            .get_or_insert_with(|| Box::new(KeyIndex::of(items.len(), key_at)));
        let at = index.find(key, key_at)?;
        Some(key_of(&items[at]).1)
    }
}

/// Key and changes of an item of a `DeltaFifo`, which leases no other items.
#[inline]
fn key_of<K, V>(item: &Item<K, V>) -> (&K, &Deltas<V>) {
    match item {
        Item::Key { key, deltas } => (key, deltas),
        Item::Replace { .. } | Item::Resync => unreachable!("{WHOLE}"),
    }
}

const WHOLE: &str = "relists and resyncs are whole items of the in-order queue alone";
