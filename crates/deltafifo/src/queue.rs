//! What every queue can do: the trait behind which [`DeltaFifo`](crate::DeltaFifo) and
//! [`InOrderQueue`](crate::InOrderQueue) are exchanged.
//!
//! Synchronous and pure: nothing blocks, wakes, or keeps time; see [`channel`](crate::channel())
//! for that. There is one method per thing that can be said, and nothing to be found by
//! downcast: client-go discovers bookmarks, transforms and batches by type assertion.

// QU-01

use std::num::NonZeroUsize;

use crate::error::{Closed, NotLeased};
use crate::known::Known;
use crate::lease::{Exhausted, Lease, LeaseId};
use crate::tombstone::Final;
use crate::transform::Rejected;

use sealed::Sealed;

pub(crate) mod sealed {
    //! Keeps [`Queue`](super::Queue) to the queues of this crate.

    /// Implemented by the queues of this crate only.
    pub trait Sealed {}
}

/// What became of a deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deletion {
    /// It waits to be delivered.
    Queued,
    /// The key is neither stored nor queued, so there is nothing to delete. The position counts.
    // DF-04
    Ignored,
}

/// A queue of changes between one producer side and one consumer.
///
/// A *position* is whatever the producer passes with a call, for instance the version received;
/// the queue returns the positions up to which the consumer got.
///
/// Changes that are leased and not yet acknowledged count as queued, with their newest object
/// as known.
///
/// Sealed: the two queues of this crate implement it, and methods may be added to it.
pub trait Queue<K, V, P>: Sealed + Send {
    /// An object appeared.
    ///
    /// # Errors
    ///
    /// [`Closed`] gives back the object.
    // client-go: DF-03, RF-03
    fn add(&mut self, key: K, value: V, position: P) -> Result<(), Closed<V>>;

    /// An object changed.
    ///
    /// # Errors
    ///
    /// [`Closed`] gives back the object.
    // client-go: DF-03, RF-03
    fn update(&mut self, key: K, value: V, position: P) -> Result<(), Closed<V>>;

    /// An object is gone.
    ///
    /// # Errors
    ///
    /// [`Closed`] gives back the final state.
    // client-go: DF-04, RF-03
    fn delete(
        &mut self,
        key: K,
        last: Final<V>,
        position: P,
        known: &dyn Known<K, V>,
    ) -> Result<Deletion, Closed<Final<V>>>;

    /// Replaces all objects: a known object that is not in the list is gone. One group: it is
    /// leased whole. Of a key that is in it twice the last object counts.
    ///
    /// Returns the items that the queue did not keep, because the consumer holds them or a later
    /// one has their key. A caller with a lock around the queue drops them after releasing it.
    // FQ-8.
    ///
    /// # Errors
    ///
    /// [`Closed`] gives back the objects.
    // client-go: DF-07, RF-09
    #[expect(
        clippy::type_complexity,
        reason = "the list, or nothing of it, comes back"
    )]
    fn replace(
        &mut self,
        items: Vec<(K, V)>,
        position: P,
        known: &dyn Known<K, V>,
    ) -> Result<Vec<(K, V)>, Closed<Vec<(K, V)>>>;

    /// Queues a resync of every held key that has no pending change.
    ///
    /// # Errors
    ///
    /// [`Closed`], with nothing to give back.
    // client-go: DF-13, RF-12
    fn resync(&mut self, known: &dyn Known<K, V>) -> Result<(), Closed<()>>;

    /// Nothing changed up to `position`.
    ///
    /// # Errors
    ///
    /// [`Closed`] gives back the position.
    // client-go: RF-13
    fn bookmark(&mut self, position: P) -> Result<(), Closed<P>>;

    /// Leases the next items: at most `max_keys` keys, or a whole group, however large. An item
    /// that failed before is leased alone, so that in the end only the culprit is given up.
    ///
    /// `None` when nothing is pending, or a lease is out: there is one at a time.
    #[doc(alias = "Pop")]
    #[doc(alias = "PopBatch")]
    fn lease(&mut self, max_keys: NonZeroUsize) -> Option<Lease<K, V, P>>;

    /// Settles the lease: all its items are done.
    ///
    /// # Errors
    ///
    /// [`NotLeased`] when `id` is not out; nothing changes.
    fn ack(&mut self, id: LeaseId) -> Result<(), NotLeased>;

    /// Settles the lease: the items at the indexes `failed` were not done; the others were. Those
    /// that failed go back to the head, with their place in time, or are returned when
    /// they failed too often and leave the queue.
    ///
    /// Objects are cloned first: if a `Clone` panics, nothing was settled, and the same lease is
    /// handed out again.
    ///
    /// # Errors
    ///
    /// [`NotLeased`] when `id` is not out or has no such index; nothing changes.
    #[doc(alias = "ErrRequeue")]
    #[doc(alias = "AddIfNotPresent")]
    fn nack(&mut self, id: LeaseId, failed: &[usize]) -> Result<Vec<Exhausted<K, V>>, NotLeased>;

    /// How far the consumer got: the position received just before the first change that is pending
    /// or leased, or the last one received when there is none.
    fn applied(&self) -> Option<&P>;

    /// The position received last.
    fn received(&self) -> Option<&P>;

    /// Whether the initial population was processed. Never becomes false again.
    // FQ-9
    #[doc(alias = "HasSynced")]
    fn is_synced(&self) -> bool;

    /// The calls with changes that are pending or leased, to be held against a bound: a
    /// relist or a resync counts one.
    // FQ-13
    fn len(&self) -> usize;

    /// Whether nothing is pending or leased.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Visits the objects of all changes that are pending or leased, of each key oldest first. The
    /// consumer's store does not show them yet. Tombstones without an object are skipped.
    fn for_each_queued(&self, visit: &mut dyn FnMut(&K, &V));

    /// The objects left out since the last call because they could not be transformed; of more
    /// than 1,024 the newest.
    fn take_rejected(&mut self) -> Vec<Rejected<K>>;

    /// Takes nothing more; what is held is still handed out.
    // FQ-10
    fn close(&mut self);

    /// Whether it takes nothing more.
    fn is_closed(&self) -> bool;
}
