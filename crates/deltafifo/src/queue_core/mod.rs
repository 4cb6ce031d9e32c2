//! The core of both queues: calls and positions, the initial population, the lease, attempts.
//!
//! A queue is this core over a kind of [`Pending`] changes. The core does not block, wake or keep
//! time, and does not compare objects.
//!
//! Objects and positions are cloned before anything changes, or after everything has changed, so
//! a `Clone` that panics leaves the queue as it was.

// - FQ-10: a closed queue takes nothing, and hands out what it has. `tests`
// - FQ-11: what failed goes back to the head, before what came meanwhile, with its
//   original number; time does not move backwards for any key. `tests`
// - FQ-12, DF-14: an object is transformed once, before anything changes. `tests`

pub(crate) mod leased;
pub(crate) mod ledger;
mod pending;
mod phase;

use std::collections::BTreeSet;
use std::hash::Hash;
use std::num::{NonZeroU32, NonZeroUsize};

use derive_where::derive_where;

use crate::config::Config;
use crate::delta::Delta;
use crate::deltas::{Pushed, Stamped};
use crate::error::{Closed, NotLeased};
use crate::known::Known;
use crate::lease::{Exhausted, Lease, LeaseId};
use crate::queue::sealed::Sealed;
use crate::queue::{Deletion, Queue};
use crate::tombstone::Final;
use crate::transform::{Intake, Rejected};

pub(crate) use pending::Pending;

use leased::{Failed, Leased};
use ledger::Ledger;
use phase::Phase;

/// A queue whose pending changes are kept in an `O`.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
#[derive_where(Debug)]
pub struct QueueCore<K, V, P, O> {
    #[derive_where(skip(Debug))]
    pub(crate) pending: O,
    pub(crate) leased: Option<Leased<K, V>>,
    pub(crate) ledger: Ledger<P>,
    pub(crate) phase: Phase,
    #[derive_where(skip(Debug))]
    pub(crate) intake: Intake<K, V>,
    max_attempts: NonZeroU32,
    leases: u64,
    closed: bool,
}

#[expect(
    private_bounds,
    reason = "sealed: a queue is one of the two of this crate"
)]
impl<K: Clone, V: Clone, P: Clone, O: Pending<K, V>> QueueCore<K, V, P, O> {
    /// An empty queue.
    #[doc(alias = "NewDeltaFIFOWithOptions")]
    #[doc(alias = "NewRealFIFOWithOptions")]
    pub fn new(config: Config<V>) -> Self {
        Self {
            pending: O::default(),
            leased: None,
            ledger: Ledger::new(),
            phase: Phase::Unpopulated,
            intake: Intake::new(config.transform),
            max_attempts: config.max_attempts,
            leases: 0,
            closed: false,
        }
    }

    /// Queues an object.
    #[inline]
    fn object(
        &mut self,
        key: K,
        value: V,
        position: P,
        delta: impl FnOnce(V) -> Delta<V>,
    ) -> Result<(), Closed<V>> {
        if self.closed {
            return Err(Closed(value));
        }
        let delta = self.intake.admit(&key, value).map(delta);
        self.single(key, delta, position);
        Ok(())
    }

    /// Queues one change of one key, or none if its object was rejected.
    #[inline]
    fn single(&mut self, key: K, delta: Option<Delta<V>>, position: P) {
        let Some(delta) = delta else {
            self.phase.single();
            return self.ledger.nothing(position);
        };
        let stamped = Stamped::new(delta, self.ledger.next());
        let pushed = self.pending.push(key, stamped);
        self.phase.single();
        match pushed {
            Pushed::Appended => _ = self.ledger.begin(Some(position), 1),
            Pushed::Merged(_) => self.ledger.nothing(position),
        }
    }

    /// Takes the next batch out of the pending changes.
    #[inline]
    fn take(&mut self, max_keys: NonZeroUsize) -> Option<()> {
        let batch = self.pending.take(max_keys)?;
        self.leases += 1;
        let mut newest = 0;
        for item in batch.items.iter() {
            batch.origin.for_each_seq(item, |seq| {
                self.ledger.lease(seq);
                newest = newest.max(seq);
            });
        }
        self.leased = Some(Leased {
            id: LeaseId(self.leases),
            batch,
            newest,
            is_delivered: false,
            index: None,
        });
        Some(())
    }

    fn not_leased(&self, given: LeaseId) -> NotLeased {
        let current = self.leased.as_ref().map(|leased| leased.id);
        NotLeased::Lease { given, current }
    }

    #[inline]
    fn settled(&mut self) {
        self.ledger.settle();
        self.phase.settle(&self.ledger);
        self.pending.shrink();
    }
}

impl<K, V, P, O> Sealed for QueueCore<K, V, P, O> {}

impl<K, V, P, O> Queue<K, V, P> for QueueCore<K, V, P, O>
where
    K: Clone + Eq + Hash + Send + Sync,
    V: Clone + Send + Sync,
    P: Clone + Send,
    O: Pending<K, V> + Send,
{
    fn add(&mut self, key: K, value: V, position: P) -> Result<(), Closed<V>> {
        self.object(key, value, position, Delta::Added)
    }

    fn update(&mut self, key: K, value: V, position: P) -> Result<(), Closed<V>> {
        planted!(TransformsTwice => drop(self.intake.admit(&key, value.clone())));
        self.object(key, value, position, Delta::Updated)
    }

    fn delete(
        &mut self,
        key: K,
        last: Final<V>,
        position: P,
        known: &dyn Known<K, V>,
    ) -> Result<Deletion, Closed<Final<V>>> {
        if self.closed {
            return Err(Closed(last));
        }
        let Some(last) = O::last_state(self, &key, last, known) else {
            self.single(key, None, position);
            return Ok(Deletion::Ignored);
        };
        self.single(key, Some(Delta::Deleted(last)), position);
        Ok(Deletion::Queued)
    }

    fn replace(
        &mut self,
        items: Vec<(K, V)>,
        position: P,
        known: &dyn Known<K, V>,
    ) -> Result<Vec<(K, V)>, Closed<Vec<(K, V)>>> {
        if self.closed {
            return Err(Closed(items));
        }
        Ok(O::replace(self, items, position, known))
    }

    fn resync(&mut self, known: &dyn Known<K, V>) -> Result<(), Closed<()>> {
        if self.closed {
            return Err(Closed(()));
        }
        O::resync(self, known);
        Ok(())
    }

    fn bookmark(&mut self, position: P) -> Result<(), Closed<P>> {
        if self.closed {
            return Err(Closed(position));
        }
        self.ledger.nothing(position);
        Ok(())
    }

    fn lease(&mut self, max_keys: NonZeroUsize) -> Option<Lease<K, V, P>> {
        if self.leased.is_none() {
            self.take(max_keys)?;
        }
        let leased = self.leased.as_mut().filter(|leased| !leased.is_delivered)?;
        let lease = Lease {
            id: leased.id,
            initial: !self.phase.is_synced(),
            items: leased.batch.items.clone(),
            position: self.ledger.position(leased.newest).cloned(),
            applied_after: self.ledger.applied_after().cloned(),
        };
        leased.is_delivered = true;
        planted!(SyncedOnLease => self.phase = Phase::Synced);
        Some(lease)
    }

    fn ack(&mut self, id: LeaseId) -> Result<(), NotLeased> {
        let leased = self.leased.take_if(|leased| leased.id == id);
        let Leased { batch, .. } = leased.ok_or_else(|| self.not_leased(id))?;
        for item in batch.items.iter() {
            let done = |seq| self.ledger.done(seq, true);
            batch.origin.for_each_seq(item, done);
        }
        self.settled();
        Ok(())
    }

    fn nack(&mut self, id: LeaseId, failed: &[usize]) -> Result<Vec<Exhausted<K, V>>, NotLeased> {
        let Some(leased) = self.leased.as_mut().filter(|leased| leased.id == id) else {
            return Err(self.not_leased(id));
        };
        let items = leased.items().len();
        if let Some(&index) = failed.iter().find(|&&at| at >= items) {
            return Err(NotLeased::Item { index, items });
        }
        let failed: BTreeSet<usize> = failed.iter().copied().collect();
        // If an object panics when it is cloned, the lease is still out, and handed out again.
        leased.is_delivered = false;
        let Failed { exhausted, again } = Failed::of(&leased.batch, &failed, self.max_attempts);
        let Leased { batch, .. } = self.leased.take().expect("it was found above");
        let (origin, ledger) = (batch.origin, &mut self.ledger);
        let done = (0..)
            .zip(&*batch.items)
            .filter(|(at, _)| !failed.contains(at));
        let given_up = exhausted.iter().map(|exhausted| &exhausted.item);
        for item in done.map(|(_, item)| item).chain(given_up) {
            origin.for_each_seq(item, |seq| ledger.done(seq, true));
        }
        // Dropped at the end, when everything has changed.
        let mut merged = Vec::new();
        for item in again.into_iter().rev() {
            origin.for_each_seq(&item, |seq| ledger.unlease(seq));
            let origin = origin.failed();
            merged.extend(
                self.pending
                    .give_back(item, origin, self.max_attempts, ledger),
            );
        }
        self.settled();
        Ok(exhausted)
    }

    fn applied(&self) -> Option<&P> {
        planted!(AppliedOnLease => return self.ledger.applied_after());
        self.ledger.applied()
    }

    fn received(&self) -> Option<&P> {
        self.ledger.received()
    }

    fn is_synced(&self) -> bool {
        self.phase.is_synced()
    }

    fn len(&self) -> usize {
        self.ledger.unsettled()
    }

    fn for_each_queued(&self, visit: &mut dyn FnMut(&K, &V)) {
        let leased = self.leased.iter().flat_map(Leased::items);
        leased.for_each(|item| item.for_each_object(visit));
        self.pending.for_each_object(visit);
    }

    fn take_rejected(&mut self) -> Vec<Rejected<K>> {
        self.intake.take_rejected()
    }

    fn close(&mut self) {
        self.closed = true;
    }

    fn is_closed(&self) -> bool {
        self.closed
    }
}

impl<K: Clone, V: Clone, P: Clone, O: Pending<K, V>> Default for QueueCore<K, V, P, O> {
    fn default() -> Self {
        Self::new(Config::default())
    }
}
