//! The in-order queue: every change on its own, delivered in the order in which it came.
//!
//! client-go's RealFIFO, atomic half. A relist travels in one piece and is compared with the
//! store when it is applied, so deletions found by it and its order clause (FQ-5) are the
//! consumer's, and so is a resync.
//!
//! - FQ-2, RF-01: changes of all keys leave in arrival order; nothing is merged. `tests`
//! - RF-05: a batch has distinct keys; a relist and a resync are handed out alone. `tests`
//! - FQ-8: a key twice in a relist: the last object, at the place of the first. `tests`
//! - FQ-9, RF-10: the initial population is the first relist, even an empty one. `tests`
//! - FQ-11, design 6.2: what failed goes back to the head with its number. `tests`

mod lease;

use std::collections::VecDeque;
use std::fmt;
use std::hash::Hash;
use std::num::{NonZeroU32, NonZeroUsize};

use indexmap::IndexMap;

use crate::config::Config;
use crate::delta::Delta;
use crate::deltas::Deltas;
use crate::error::{Closed, NotLeased};
use crate::key_hash::{self, KeyHash};
use crate::known::Known;
use crate::lease::{Item, Lease, LeaseId, Quarantined};
use crate::queue::{Deletion, Queue};
use crate::queue_core::ledger::Ledger;
use crate::queue_core::phase::Phase;
use crate::tombstone::Final;
use crate::transform::{Intake, Rejected};

use lease::{Out, Tag};

/// Every change on its own, in the order of arrival across all keys.
///
/// client-go behaviour: RF-01..14, atomic half.
#[doc(alias = "RealFIFO")]
pub struct InOrderQueue<K, V, P> {
    waiting: VecDeque<(Tag, Item<K, V>)>,
    out: Option<Out<K, V>>,
    ledger: Ledger<P>,
    phase: Phase,
    intake: Intake<K, V>,
    max_attempts: NonZeroU32,
    leases: u64,
    hasher: KeyHash,
    closed: bool,
}

impl<K, V, P> InOrderQueue<K, V, P>
where
    K: Clone + Eq + Hash,
    V: Clone,
    P: Clone,
{
    /// An empty queue.
    #[doc(alias = "NewRealFIFOWithOptions")]
    pub fn new(config: Config<V>) -> Self {
        Self {
            waiting: VecDeque::new(),
            out: None,
            ledger: Ledger::new(),
            phase: Phase::Unpopulated,
            intake: Intake::new(config.transform),
            max_attempts: config.max_attempts,
            leases: 0,
            hasher: key_hash::random(),
            closed: false,
        }
    }

    #[inline]
    fn single(&mut self, key: K, delta: Option<Delta<V>>, position: P) {
        self.phase.single();
        let Some(delta) = delta else {
            return self.ledger.nothing(position);
        };
        let deltas = Deltas::new(delta);
        self.put(Item::Key { key, deltas });
        self.ledger.single(Some(position));
    }

    /// Puts a work behind all others. Whoever calls counts it.
    #[inline]
    fn put(&mut self, item: Item<K, V>) {
        let seq = self.ledger.next();
        self.waiting.push_back((Tag { seq, attempts: 0 }, item));
    }

    /// What is leased and pending, oldest first.
    fn queued(&self) -> impl DoubleEndedIterator<Item = &Item<K, V>> {
        let leased = self.out.as_ref().map_or(&[][..], |out| &out.items);
        let waiting = self.waiting.iter().map(|(_, item)| item);
        leased.iter().chain(waiting)
    }

    /// The newest object of `key` once all that is queued is applied. Only asked when an object
    /// was rejected, so a walk from the newest change is good enough.
    fn newest(&self, key: &K, known: &dyn Known<K, V>) -> Option<V> {
        for item in self.queued().rev() {
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

impl<K, V, P> Queue<K, V, P> for InOrderQueue<K, V, P>
where
    K: Clone + Eq + Hash + Send + Sync,
    V: Clone + Send + Sync,
    P: Clone + Send,
{
    fn add(&mut self, key: K, value: V, position: P) -> Result<(), Closed<V>> {
        if self.closed {
            return Err(Closed(value));
        }
        let value = self.intake.admit(&key, value);
        self.single(key, value.map(Delta::Added), position);
        Ok(())
    }

    fn update(&mut self, key: K, value: V, position: P) -> Result<(), Closed<V>> {
        if self.closed {
            return Err(Closed(value));
        }
        let value = self.intake.admit(&key, value);
        self.single(key, value.map(Delta::Updated), position);
        Ok(())
    }

    /// Queues every deletion: whether the key is held is seen when it is applied (RF-01).
    fn delete(
        &mut self,
        key: K,
        last: Final<V>,
        position: P,
        _: &dyn Known<K, V>,
    ) -> Result<Deletion, Closed<Final<V>>> {
        if self.closed {
            return Err(Closed(last));
        }
        let last = match last {
            // The deletion itself must not be lost with its object; the consumer has an older
            // one.
            Final::Observed(value) => self
                .intake
                .admit(&key, value)
                .map_or(Final::Unknown(None), Final::Observed),
            unknown @ Final::Unknown(_) => unknown,
        };
        self.single(key, Some(Delta::Deleted(last)), position);
        Ok(Deletion::Queued)
    }

    fn replace(
        &mut self,
        items: Vec<(K, V)>,
        position: P,
        known: &dyn Known<K, V>,
    ) -> Result<(), Closed<Vec<(K, V)>>> {
        if self.closed {
            return Err(Closed(items));
        }
        let mut distinct = IndexMap::with_capacity_and_hasher(items.len(), self.hasher.clone());
        for (key, value) in items {
            match self.intake.admit(&key, value) {
                Some(value) => {
                    planted!(FirstListedWins => if distinct.contains_key(&key) {
                        continue;
                    });
                    distinct.insert(key, value);
                }
                // It exists, so it must not be taken for gone (FM-53).
                None => {
                    if let Some(held) = self.newest(&key, known) {
                        distinct.entry(key).or_insert(held);
                    }
                }
            }
        }
        let items = distinct.into_iter().collect();
        self.phase.relist(self.ledger.next());
        self.put(Item::Replace { items });
        self.ledger.single(Some(position));
        Ok(())
    }

    fn resync(&mut self, _: &dyn Known<K, V>) -> Result<(), Closed<()>> {
        if self.closed {
            return Err(Closed(()));
        }
        self.put(Item::Resync);
        self.ledger.single(None);
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
        self.hand_out(max_keys)
    }

    fn ack(&mut self, id: LeaseId) -> Result<(), NotLeased> {
        self.settle(id)
    }

    fn nack(&mut self, id: LeaseId, failed: &[usize]) -> Result<Vec<Quarantined<K, V>>, NotLeased> {
        self.take_back(id, failed)
    }

    fn applied(&self) -> Option<&P> {
        planted!(AppliedOnLease => return self.ledger.applied_after());
        self.ledger.applied()
    }

    fn received(&self) -> Option<&P> {
        self.ledger.received()
    }

    fn synced(&self) -> bool {
        self.phase.is_synced()
    }

    fn len(&self) -> usize {
        self.ledger.unsettled()
    }

    fn for_each_queued(&self, visit: &mut dyn FnMut(&K, &V)) {
        for item in self.queued() {
            match item {
                Item::Key { key, deltas } => {
                    deltas.objects().for_each(|object| visit(key, object));
                }
                Item::Replace { items } => items.iter().for_each(|(key, value)| visit(key, value)),
                Item::Resync => {}
            }
        }
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

#[cfg(any(test, fuzzing))]
impl<K: Clone, V: Clone, P: Clone> InOrderQueue<K, V, P> {
    /// A copy with all that is in it, but without a transform.
    pub(crate) fn fork(&self) -> Self {
        Self {
            waiting: self.waiting.clone(),
            out: self.out.clone(),
            ledger: self.ledger.clone(),
            intake: Intake::new(None),
            hasher: self.hasher.clone(),
            ..*self
        }
    }
}

impl<K, V, P> Default for InOrderQueue<K, V, P>
where
    K: Clone + Eq + Hash,
    V: Clone,
    P: Clone,
{
    fn default() -> Self {
        Self::new(Config::default())
    }
}

impl<K, V, P: Clone> fmt::Debug for InOrderQueue<K, V, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InOrderQueue")
            .field("waiting", &self.waiting.len())
            .field("leased", &self.out.as_ref().map(|out| out.id))
            .field("unsettled", &self.ledger.unsettled())
            .field("phase", &self.phase)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}
