//! A batch handed out, to be acknowledged or given back.
//!
//! The works are shared between queue and consumer: a consumer that is lost, by panic or
//! cancellation, has lost nothing (FQ-11). One lease is out at a time (design 6.1), so
//! changes of a leased key wait until the lease is settled.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::deltas::Deltas;
use crate::error::NotLeased;

/// Names one lease of one queue; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseId(pub(crate) u64);

impl LeaseId {
    /// Takes the lease that is out, if it is this one; `id` tells which it is.
    #[inline]
    pub(crate) fn take<O>(
        self,
        out: &mut Option<O>,
        id: impl Fn(&O) -> Self,
    ) -> Result<O, NotLeased> {
        let current = out.as_ref().map(&id);
        out.take_if(|out| id(out) == self).ok_or(NotLeased::Lease {
            given: self,
            current,
        })
    }
}

/// Why there is a work for each that was counted.
pub(crate) const COUNTED: &str = "as many wait as were counted";

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lease {}", self.0)
    }
}

/// Works handed out together. They count as queued until they are acknowledged.
pub struct Lease<K, V, P> {
    /// What to acknowledge or give back it by.
    pub id: LeaseId,
    /// Whether the queue was not yet synced when the lease was handed out (DF-11).
    #[doc(alias = "isInInitialList")]
    pub initial: bool,
    /// What to do, in this order.
    pub items: Arc<[Item<K, V>]>,
    /// The mark received with the newest change in it; `None` if nothing but resyncs was
    /// received so far.
    pub position: Option<P>,
    /// What `applied()` will be once all of it is acknowledged, as far as known now.
    pub applied_after: Option<P>,
}

impl<K, V, P: Clone> Clone for Lease<K, V, P> {
    fn clone(&self) -> Self {
        Self {
            id: self.id,
            initial: self.initial,
            items: Arc::clone(&self.items),
            position: self.position.clone(),
            applied_after: self.applied_after.clone(),
        }
    }
}

impl<K: fmt::Debug, V, P: fmt::Debug> fmt::Debug for Lease<K, V, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("id", &self.id)
            .field("initial", &self.initial)
            .field("items", &self.items)
            .field("position", &self.position)
            .field("applied_after", &self.applied_after)
            .finish()
    }
}

/// One thing for the consumer to do. Exhaustive: a consumer must know them all.
#[derive(Clone, PartialEq, Eq)]
pub enum Item<K, V> {
    /// Changes of one key, to be applied oldest first.
    Key {
        /// Whose changes these are.
        key: K,
        /// What changed.
        deltas: Deltas<V>,
    },
    /// A relist in one piece: what is held and not in it is gone. Only from the in-order queue.
    #[doc(alias = "ReplacedAll")]
    Replace {
        /// All there is, each key once.
        items: Vec<(K, V)>,
    },
    /// Announce all that is held once more. Only from the in-order queue.
    #[doc(alias = "SyncAll")]
    Resync,
}

impl<K: fmt::Debug, V> fmt::Debug for Item<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key { key, deltas } => f
                .debug_struct("Key")
                .field("key", key)
                .field("deltas", deltas)
                .finish(),
            Self::Replace { items } => f
                .debug_struct("Replace")
                .field("items", &items.len())
                .finish(),
            Self::Resync => f.write_str("Resync"),
        }
    }
}

/// Work that failed as often as the queue tries. It has left the queue: what becomes of it is
/// the caller's decision. Later changes of the same key are delivered as usual.
#[derive(Clone, PartialEq, Eq)]
pub struct Quarantined<K, V> {
    /// What failed.
    pub item: Item<K, V>,
    /// How often it was tried.
    pub attempts: NonZeroU32,
}

impl<K: fmt::Debug, V> fmt::Debug for Quarantined<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Quarantined")
            .field("item", &self.item)
            .field("attempts", &self.attempts)
            .finish()
    }
}
