//! What the operations of a queue may answer instead of success, one type per operation.

use derive_where::derive_where;
use thiserror::Error;

use crate::lease::LeaseId;

/// The queue is closed; what it refused is given back.
///
/// client-go's queues drop the object silently after `Close`. Exhaustive on purpose: the error has
/// no other content.
// QU-03, FQ-10
#[derive(Error)]
#[derive_where(Debug)]
#[error("the queue is closed and takes nothing more")]
pub struct Closed<T>(
    /// What was refused.
    #[derive_where(skip(Debug))]
    pub T,
);

/// What was to be acknowledged or given back is not leased. Nothing was changed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotLeased {
    /// There is no such lease, or no longer: every lease is settled exactly once.
    #[error("{given} is not out (out now: {current:?}); a lease is settled exactly once")]
    Lease {
        /// The lease named by the caller.
        given: LeaseId,
        /// The lease that is out, if one is.
        current: Option<LeaseId>,
    },
    /// The lease has no item at that index.
    #[error("index {index} is beyond the lease, which has {items} items")]
    Item {
        /// The index named by the caller.
        index: usize,
        /// Number of items in the lease.
        items: usize,
    },
}

/// The queue was closed and drained, or lost its consumer, before the initial population had
/// been processed, so that it can no longer become synced.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the queue ended before its initial population had been processed")]
pub struct NeverSynced;
