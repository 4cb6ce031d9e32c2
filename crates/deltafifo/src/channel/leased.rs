//! The guard of a lease: settled on purpose, or given back when dropped (FQ-11).

use std::fmt;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

use derive_where::derive_where;

use crate::lease::{Item, Lease, LeaseId, Quarantined};

use super::{Shared, State};

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
    /// of an object panics; then the whole lease is handed out again, and no attempt is counted.
    pub fn nack(mut self, failed: &[usize]) -> Vec<Quarantined<K, V>> {
        let items = self.lease.items.len();
        assert!(
            failed.iter().all(|&at| at < items),
            "a failed index is beyond {items} items"
        );
        match self.give_back(failed, |_, quarantined| quarantined) {
            Ok(quarantined) => quarantined,
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Settles the lease. A panic is caught, because the state has changed even then: the lease
    /// waits to be handed out again, and the waiters are woken.
    fn give_back<R>(
        &mut self,
        failed: &[usize],
        then: impl FnOnce(&mut State<K, V, P>, Vec<Quarantined<K, V>>) -> R,
    ) -> thread::Result<R> {
        self.settle(|state, id| {
            let nack = || state.queue.nack(id, failed).expect(ONE_GUARD);
            let quarantined = catch_unwind(AssertUnwindSafe(nack))?;
            Ok(then(state, quarantined))
        })
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
        let abandoned = |state: &mut State<K, V, P>, all| state.abandoned.extend(all);
        if let Err(panic) = self.give_back(&all, abandoned)
            && !thread::panicking()
        {
            resume_unwind(panic);
        }
    }
}

const ONE_GUARD: &str = "the guard holds the one lease of its queue, which it settles once";
