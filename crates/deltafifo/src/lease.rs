//! A batch of leased items, to be acknowledged or given back.
//!
//! The items are shared between queue and consumer: a consumer that panics or is cancelled has
//! lost nothing. There is one lease at a time, so changes of a leased key
//! wait until the lease is settled.

// FQ-11

use std::fmt;
use std::num::NonZeroU32;
use std::ops::Deref;
use std::slice;
use std::sync::Arc;

use derive_where::derive_where;

use crate::deltas::Deltas;

/// Identifies one lease of one queue; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseId(pub(crate) u64);

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lease {}", self.0)
    }
}

/// Items leased together. They count as queued until they are acknowledged.
///
/// ```
/// use std::num::NonZeroUsize;
/// use informer_deltafifo::{DeltaFifo, Queue};
///
/// let mut queue = DeltaFifo::<&str, u32, u64>::default();
/// queue.add("a", 1, 10)?;
/// let lease = queue.lease(NonZeroUsize::MIN).expect("a key is pending");
/// assert_eq!((lease.position, queue.applied()), (Some(10), None));
/// queue.nack(lease.id, &[0]).expect("it is leased");
/// let again = queue.lease(NonZeroUsize::MIN).expect("it failed and is pending again");
/// queue.ack(again.id).expect("it is leased");
/// assert_eq!(queue.applied(), Some(&10));
/// # Ok::<(), informer_deltafifo::Closed<u32>>(())
/// ```
#[derive_where(Clone; P: Clone)]
#[derive_where(Debug; K: fmt::Debug, P: fmt::Debug)]
#[non_exhaustive]
pub struct Lease<K, V, P> {
    /// The id to acknowledge the lease or give it back with.
    pub id: LeaseId,
    /// Whether the queue was not yet synced when the lease was handed out.
    // DF-11.
    #[doc(alias = "isInInitialList")]
    pub initial: bool,
    /// The items to process, in this order.
    pub items: Items<K, V>,
    /// The position received with the newest change in it; `None` if nothing but resyncs was
    /// received so far.
    pub position: Option<P>,
    /// What `applied()` will be once all of it is acknowledged, as far as known now.
    pub applied_after: Option<P>,
}

/// The items of a lease, in order: a slice that queue and consumer share.
#[derive_where(Clone)]
#[derive_where(Debug; K: fmt::Debug)]
pub struct Items<K, V>(Shared<Item<K, V>>);

#[derive_where(Clone)]
#[derive_where(Debug; T: fmt::Debug)]
enum Shared<T> {
    Few(Arc<[T]>),
    /// In the memory in which they were pending: a slice would be a copy of all of them.
    Many(Arc<Vec<T>>),
}

impl<K, V> Items<K, V> {
    /// The next `count` items; an array is cheaper to make than a slice.
    #[inline]
    pub(crate) fn few(count: usize, mut next: impl FnMut() -> Item<K, V>) -> Self {
        Self(Shared::Few(match count {
            1 => Arc::new([next()]),
            _ => (0..count).map(|_| next()).collect(),
        }))
    }

    /// Very many items.
    pub(crate) fn many(items: Vec<Item<K, V>>) -> Self {
        Self(Shared::Many(Arc::new(items)))
    }
}

impl<K, V> Deref for Items<K, V> {
    type Target = [Item<K, V>];

    #[inline]
    fn deref(&self) -> &Self::Target {
        match &self.0 {
            Shared::Few(items) => items,
            Shared::Many(items) => items,
        }
    }
}

impl<'a, K, V> IntoIterator for &'a Items<K, V> {
    type Item = &'a Item<K, V>;
    type IntoIter = slice::Iter<'a, Item<K, V>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// One item for the consumer to process. Exhaustive on purpose: a consumer must handle all kinds.
#[derive(Clone, PartialEq, Eq)]
#[derive_where(Debug; K: fmt::Debug)]
pub enum Item<K, V> {
    /// Changes of one key, to be applied oldest first.
    Key {
        /// The key of the changed object.
        key: K,
        /// The changes.
        deltas: Deltas<V>,
    },
    /// A relist in one piece: a held object that is not in it is gone. Only from the in-order
    /// queue.
    #[doc(alias = "ReplacedAll")]
    Replace {
        /// All existing objects, each key once.
        #[derive_where(skip(Debug))]
        items: Vec<(K, V)>,
    },
    /// All held objects are to be announced again. Only from the in-order queue.
    #[doc(alias = "SyncAll")]
    Resync,
}

impl<K, V> Item<K, V> {
    /// Visits the objects in the item, of each key oldest first.
    pub(crate) fn for_each_object(&self, visit: &mut dyn FnMut(&K, &V)) {
        match self {
            Self::Key { key, deltas } => deltas.objects().for_each(|object| visit(key, object)),
            Self::Replace { items } => items.iter().for_each(|(key, value)| visit(key, value)),
            Self::Resync => {}
        }
    }
}

/// An item whose attempts are used up: it failed `Config::max_attempts` times. It has left the
/// queue, and belongs to the caller. Later changes of the same key are delivered as
/// usual.
#[derive(Clone, PartialEq, Eq)]
#[derive_where(Debug; K: fmt::Debug)]
#[non_exhaustive]
pub struct Exhausted<K, V> {
    /// The item that failed.
    pub item: Item<K, V>,
    /// How often it was leased.
    pub attempts: NonZeroU32,
}
