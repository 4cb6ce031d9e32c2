//! What differs between the two queues: how changes are kept until they are leased.

use std::num::{NonZeroU32, NonZeroUsize};

use crate::deltas::{Pushed, Stamped};
use crate::known::Known;
use crate::lease::Item;
use crate::tombstone::Final;

use super::QueueCore;
use super::leased::{Batch, Origin};
use super::ledger::Ledger;

/// The changes of a queue that are not leased, and the operations that look into them.
pub(crate) trait Pending<K, V>: Default {
    /// Adds one change. The caller counts it in the ledger.
    fn push(&mut self, key: K, stamped: Stamped<V>) -> Pushed<V>;

    /// Removes what is to be leased next: at most `max_keys` keys, or a whole group.
    fn take(&mut self, max_keys: NonZeroUsize) -> Option<Batch<K, V>>;

    /// Puts an item that failed before all others. Returns a deletion that was merged into it.
    fn give_back<P: Clone>(
        &mut self,
        item: Item<K, V>,
        origin: Origin,
        max_attempts: NonZeroU32,
        ledger: &mut Ledger<P>,
    ) -> Option<Final<V>>;

    /// Gives back the memory that a past burst needed.
    fn shrink(&mut self);

    /// Visits all objects, of each key oldest first.
    fn for_each_object(&self, visit: &mut dyn FnMut(&K, &V));

    /// What the tombstone of a deleted key carries, or `None` to ignore the deletion.
    fn last_state<P: Clone>(
        queue: &mut QueueCore<K, V, P, Self>,
        key: &K,
        last: Final<V>,
        known: &dyn Known<K, V>,
    ) -> Option<Final<V>>;

    /// Carries out [`Queue::replace`](crate::Queue::replace) on an open queue.
    fn replace<P: Clone>(
        queue: &mut QueueCore<K, V, P, Self>,
        items: Vec<(K, V)>,
        position: P,
        known: &dyn Known<K, V>,
    ) -> Vec<(K, V)>;

    /// Carries out [`Queue::resync`](crate::Queue::resync) on an open queue.
    fn resync<P: Clone>(queue: &mut QueueCore<K, V, P, Self>, known: &dyn Known<K, V>);
}
