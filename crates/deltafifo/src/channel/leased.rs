//! The guard of a lease: settled on purpose, or given back when dropped.

// FQ-11

use std::fmt;
use std::mem;
use std::ops::Deref;
use std::sync::Arc;

use derive_where::derive_where;

use crate::lease::{Exhausted, Item, Lease, LeaseId};

use super::shared::{Shared, State};

/// Leased items. Dropped without `ack` or `nack` it gives back all of them.
///
/// Everything else about the lease is readable through it: `initial`, `position`, `applied_after`.
#[must_use = "dropping a lease gives everything back, which counts as a failed attempt"]
#[derive_where(Debug; K: fmt::Debug, P: fmt::Debug)]
pub struct Leased<K, V, P> {
    #[derive_where(skip)]
    shared: Arc<Shared<K, V, P>>,
    lease: Lease<K, V, P>,
    settled: bool,
}

impl<K, V, P> Leased<K, V, P> {
    pub(super) fn new(shared: Arc<Shared<K, V, P>>, lease: Lease<K, V, P>) -> Self {
        Self {
            shared,
            lease,
            settled: false,
        }
    }

    /// The items to process, in this order.
    pub fn items(&self) -> &[Item<K, V>] {
        &self.lease.items
    }

    /// Settles the lease: all items are done.
    pub fn ack(mut self) {
        self.settle(|state, id| state.queue.ack(id))
            .expect(ONE_GUARD);
    }

    /// Settles the lease: the items at the indexes `failed` were not done, the others were. Items
    /// that failed too often are returned instead of being leased again.
    ///
    /// # Panics
    ///
    /// When there is no item at one of the indexes; then everything is given back. When the `Clone`
    /// of an object panics; then the whole lease is handed out again, and no attempt is counted. A
    /// guard that is dropped by a panic clones, too: such an object then aborts the process.
    pub fn nack(mut self, failed: &[usize]) -> Vec<Exhausted<K, V>> {
        let items = self.lease.items.len();
        assert!(
            failed.iter().all(|&at| at < items),
            "a failed index is beyond {items} items"
        );
        self.give_back(failed, |_, exhausted| exhausted)
    }

    fn give_back<R>(
        &mut self,
        failed: &[usize],
        then: impl FnOnce(&mut State<K, V, P>, Vec<Exhausted<K, V>>) -> R,
    ) -> R {
        let shared = Arc::clone(&self.shared);
        let on_panic = WakeAll(&shared);
        let result = self.settle(|state, id| {
            let exhausted = state.queue.nack(id, failed).expect(ONE_GUARD);
            then(state, exhausted)
        });
        mem::forget(on_panic);
        result
    }

    fn settle<R>(&mut self, settle: impl FnOnce(&mut State<K, V, P>, LeaseId) -> R) -> R {
        self.settled = true;
        let id = self.lease.id;
        if planted!(GuardForgottenFirst) {
            self.shared.change(|state| state.lease_out = false);
        }
        self.shared.change(|state| {
            state.lease_out = false;
            settle(state, id)
        })
    }
}

impl<K, V, P> Deref for Leased<K, V, P> {
    type Target = Lease<K, V, P>;

    fn deref(&self) -> &Self::Target {
        &self.lease
    }
}

impl<K, V, P> Drop for Leased<K, V, P> {
    fn drop(&mut self) {
        if self.settled {
            return;
        }
        let all: Vec<_> = (0..self.lease.items.len()).collect();
        self.give_back(&all, |state, all| state.abandoned.extend(all));
    }
}

/// Wakes all waiters when it is dropped: if an object panics in `Clone`, the lease is pending
/// again, and a waiter may take it.
struct WakeAll<'a, K, V, P>(&'a Shared<K, V, P>);

impl<K, V, P> Drop for WakeAll<'_, K, V, P> {
    fn drop(&mut self) {
        self.0.change(|_| ());
    }
}

const ONE_GUARD: &str = "the guard holds the one lease of its queue, which it settles once";
