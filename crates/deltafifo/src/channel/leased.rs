//! The guard of a lease: settled on purpose, or given back when dropped (FQ-11).

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::lease::{Item, Lease, LeaseId, Quarantined};

use super::{Shared, State};

/// Works that were handed out. Dropped without `ack` or `nack` it gives back all of them.
///
/// Everything else about the lease is readable through it: `initial`, `mark`, `applied_after`.
#[must_use = "dropping a lease gives everything back, which counts as a failed attempt"]
pub struct Leased<K, V, P> {
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

    /// What to do, in this order.
    pub fn items(&self) -> &[Item<K, V>] {
        &self.lease.items
    }

    /// All of it is done.
    pub fn ack(mut self) {
        self.settle(|state, id| state.queue.ack(id))
            .expect(ONE_GUARD);
    }

    /// The works at the positions `failed` were not done, the others were; what was tried often
    /// enough is returned instead of being handed out again.
    ///
    /// # Panics
    ///
    /// When there is no work at one of the positions; then everything is given back.
    pub fn nack(mut self, failed: &[usize]) -> Vec<Quarantined<K, V>> {
        let items = self.lease.items.len();
        assert!(
            failed.iter().all(|&at| at < items),
            "a failed position is beyond {items} items"
        );
        self.settle(|state, id| state.queue.nack(id, failed))
            .expect(ONE_GUARD)
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
        self.settle(|state, id| match state.queue.nack(id, &all) {
            Ok(quarantined) => state.abandoned.extend(quarantined),
            // Not possible with our queues; a panic while dropping would hide its cause.
            Err(_) => debug_assert!(false, "{ONE_GUARD}"),
        });
    }
}

impl<K: fmt::Debug, V, P: fmt::Debug> fmt::Debug for Leased<K, V, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Leased").field(&self.lease).finish()
    }
}

const ONE_GUARD: &str = "the guard holds the one lease of its queue, which it settles once";
