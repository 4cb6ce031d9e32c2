//! The default queue: per key, an ordered list of changes; keys in the order in which they
//! first waited.
//!
//! A key waits once however often it changes, so a busy object cannot starve a quiet one, and
//! its changes are handed out together. Order is per key only (FM-90); the
//! [`InOrderQueue`](crate::InOrderQueue) keeps it across keys.
//!
//! Does not block, wake or keep time, and never compares objects.
//!
//! - FQ-1: a key waits exactly if it has a change, and once. `pending_map`, `deltas`, `tests`
//! - FQ-2, FQ-3: per key nothing is lost or reordered. `tests`
//! - FQ-5, FQ-6, DF-07, DF-08: a relist reports exactly what vanished, with the newest object
//!   known, and nothing twice; its changes follow what waited before (`replace`). `tests`
//! - FQ-7, DF-13: a resync never touches a key with pending or leased changes. `tests`
//! - FQ-9, DF-10, DF-11: `phase`. FQ-11: `lease`. FQ-12, DF-14: `transform`.
//! - Design 6.1: leased changes count as queued. `tests`, planted bugs included

pub(crate) mod groups;
mod lease;
pub(crate) mod pending_map;
mod replace;

use std::fmt;
use std::hash::Hash;
use std::num::{NonZeroU32, NonZeroUsize};

use crate::config::Config;
use crate::delta::Delta;
use crate::delta_fifo::groups::{GroupId, Groups};
use crate::delta_fifo::pending_map::{Entry, Line};
use crate::deltas::{Deltas, Pushed, Stamped};
use crate::error::{Closed, NotLeased};
use crate::known::Known;
use crate::lease::{Lease, LeaseId, Quarantined};
use crate::queue::{Deletion, Queue};
use crate::queue_core::ledger::Ledger;
use crate::queue_core::phase::Phase;
use crate::tombstone::Final;
use crate::transform::{Intake, Rejected};

use lease::Out;

/// Per key an ordered list of changes, keys in the order in which they first waited.
///
/// `K` is the key, `V` the object (cheap to clone, usually an `Arc`), `M` the mark.
///
/// client-go behaviour: DF-01..15.
#[doc(alias = "DeltaFIFO")]
pub struct DeltaFifo<K, V, P> {
    line: Line<K, Slot<V>>,
    groups: Groups,
    out: Option<Out<K, V>>,
    ledger: Ledger<P>,
    phase: Phase,
    intake: Intake<K, V>,
    max_attempts: NonZeroU32,
    leases: u64,
    closed: bool,
}

/// What waits for one key.
#[derive(Clone)]
struct Slot<V> {
    deltas: Deltas<V>,
    /// A group that the key is tied to.
    group: Option<GroupId>,
}

impl<K, V, P> DeltaFifo<K, V, P>
where
    K: Clone + Eq + Hash,
    V: Clone,
    P: Clone,
{
    /// An empty queue.
    #[doc(alias = "NewDeltaFIFOWithOptions")]
    pub fn new(config: Config<V>) -> Self {
        Self {
            line: Line::new(),
            groups: Groups::default(),
            out: None,
            ledger: Ledger::new(),
            phase: Phase::Unpopulated,
            intake: Intake::new(config.transform),
            max_attempts: config.max_attempts,
            leases: 0,
            closed: false,
        }
    }

    /// Queues one change of one key.
    #[inline]
    fn single(&mut self, key: K, delta: Option<Delta<V>>, position: P) {
        self.phase.single();
        let Some(delta) = delta else {
            return self.ledger.nothing(position);
        };
        let stamped = Stamped {
            delta,
            seq: self.ledger.next(),
            attempts: 0,
        };
        match self.put(key, stamped, None) {
            Pushed::Appended => self.ledger.single(Some(position)),
            Pushed::Merged => self.ledger.nothing(position),
        }
    }

    /// Puts a change behind what waits for its key, or the key at the back of the line. Whoever
    /// calls counts it.
    #[inline]
    fn put(&mut self, key: K, stamped: Stamped<V>, relist: Option<GroupId>) -> Pushed {
        planted!(UpdateSwallowsDelete => if self.swallow(&key, &stamped) {
            return Pushed::Merged;
        });
        append(self.line.entry(key), stamped, relist, &mut self.groups)
    }

    /// Whether changes of `key` are pending or leased.
    fn is_queued(&mut self, key: &K) -> bool {
        self.line.contains(key) || self.is_leased(key)
    }

    fn is_leased(&mut self, key: &K) -> bool {
        planted!(LeasedIsForgotten => return false);
        self.out
            .as_mut()
            .is_some_and(|out| out.deltas(key).is_some())
    }
}

/// Puts a change where its key stands, and ties the key to the group of a relist.
#[inline]
fn append<K, V>(
    entry: Entry<'_, K, Slot<V>>,
    stamped: Stamped<V>,
    relist: Option<GroupId>,
    groups: &mut Groups,
) -> Pushed {
    let mut tie = |group: &mut Option<GroupId>| {
        if let Some(relist) = relist {
            groups.join(group, relist);
        }
    };
    match entry {
        Entry::Absent(absent) => {
            let mut group = None;
            tie(&mut group);
            let deltas = Deltas::stamped(stamped);
            absent.push_back(Slot { deltas, group });
            Pushed::Appended
        }
        Entry::Waiting(slot) => {
            tie(&mut slot.group);
            slot.deltas.push(stamped)
        }
    }
}

impl<K, V, P> Queue<K, V, P> for DeltaFifo<K, V, P>
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
        planted!(TransformsTwice => drop(self.intake.admit(&key, value.clone())));
        let value = self.intake.admit(&key, value);
        self.single(key, value.map(Delta::Updated), position);
        Ok(())
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
        if !known.contains(&key) && !self.is_queued(&key) {
            self.single(key, None, position);
            return Ok(Deletion::Ignored);
        }
        let last = match last {
            Final::Observed(value) => match self.intake.admit(&key, value) {
                Some(value) => Final::Observed(value),
                // The deletion itself must not be lost with its object.
                None => Final::Unknown(self.newest(&key, known)),
            },
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
        self.relist(items, position, known);
        Ok(())
    }

    fn resync(&mut self, known: &dyn Known<K, V>) -> Result<(), Closed<()>> {
        if self.closed {
            return Err(Closed(()));
        }
        self.remind(known);
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
        let leased = self.out.iter().flat_map(Out::keys);
        let waiting = self.line.iter().map(|(_, key, slot)| (key, &slot.deltas));
        for (key, deltas) in leased.chain(waiting) {
            deltas.objects().for_each(|object| visit(key, object));
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
impl<K, V, P> DeltaFifo<K, V, P>
where
    K: Clone + Eq + Hash,
    V: Clone,
    P: Clone,
{
    /// A copy with all that is in it, but without a transform.
    pub(crate) fn fork(&self) -> Self {
        Self {
            line: self.line.clone(),
            groups: self.groups.clone(),
            out: self.out.clone(),
            ledger: self.ledger.clone(),
            intake: Intake::new(None),
            ..*self
        }
    }
}

#[cfg(any(test, sim))]
impl<K, V, P> DeltaFifo<K, V, P>
where
    K: Clone + Eq + Hash,
    V: Clone,
    P: Clone,
{
    /// A planted bug: what comes over a pending deletion takes its place.
    fn swallow(&mut self, key: &K, stamped: &Stamped<V>) -> bool {
        if stamped.delta.is_deleted() || !self.line.contains(key) {
            return false;
        }
        let Entry::Waiting(slot) = self.line.entry(key.clone()) else {
            return false;
        };
        let newest = slot.deltas.newest_stamped_mut();
        let swallows = newest.delta.is_deleted();
        if swallows {
            newest.delta = stamped.delta.clone();
        }
        swallows
    }
}

impl<K, V, P> Default for DeltaFifo<K, V, P>
where
    K: Clone + Eq + Hash,
    V: Clone,
    P: Clone,
{
    fn default() -> Self {
        Self::new(Config::default())
    }
}

impl<K, V, P> fmt::Debug for DeltaFifo<K, V, P>
where
    K: Clone + Eq + Hash,
    V: Clone,
    P: Clone,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeltaFifo")
            .field("waiting_keys", &self.line.len())
            .field("leased", &self.out.as_ref().map(Out::id))
            .field("unsettled", &self.ledger.unsettled())
            .field("phase", &self.phase)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}
