//! Queues of pending changes, grouped by key, between a producer that receives changes and a
//! consumer that applies them to a store.
//!
//! This crate does not depend on Kubernetes types, HTTP, a clock, a runtime, or the store. A key
//! is any `K: Clone + Eq + Hash`, an object any `V: Clone` (usually an `Arc`), and a position
//! whatever the producer wants back to see how far the consumer got.
//!
//! ```
//! use std::num::NonZeroUsize;
//! use informer_deltafifo::{Config, DeltaFifo, Final, Queue, Item};
//!
//! let mut queue = DeltaFifo::<&str, u32, u64>::new(Config::default());
//! queue.replace(vec![("a", 1), ("b", 1)], 10, &())?;     // a list, at version 10
//! queue.update("a", 2, 11)?;
//! queue.delete("b", Final::Observed(2), 12, &())?;
//! let lease = queue.lease(NonZeroUsize::MIN).expect("a relist is leased whole");
//! let Item::Key { key, deltas } = &lease.items[0] else { unreachable!() };
//! assert_eq!((*key, deltas.len(), lease.items.len()), ("a", 2, 2));
//! assert!(lease.initial && !queue.is_synced());
//! queue.ack(lease.id)?;
//! assert!(queue.is_synced() && queue.applied() == Some(&12));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! There are two queues behind one trait, [`Queue`]:
//!
//! | | [`DeltaFifo`] | [`InOrderQueue`] |
//! | --- | --- | --- |
//! | order | per key; keys as they became pending | across all keys |
//! | changes of one key | leased together | one by one |
//! | a relist | tombstones made when it comes, from queue and store | one item, compared later |
//! | client-go | DeltaFIFO (DF) | RealFIFO, atomic (RF) |
//!
//! Items are *leased* and *acknowledged*. A leased item counts as queued, so a deletion or a relist
//! that comes meanwhile sees it; an item that is given back keeps its place in time; and
//! [`is_synced`](Queue::is_synced) and [`applied`](Queue::applied) move when items are
//! acknowledged, not when they are leased. [`channel()`] puts an async interface around either
//! queue.
//!
//! # By task
//!
//! - Choose a queue: [`DeltaFifo`] or [`InOrderQueue`], with a [`Config`].
//! - Fill and drain it from tasks: [`channel()`], [`Producer`], [`Consumer`], [`Leased`].
//! - Fill and drain it by calls: [`Queue`], [`Lease`], [`Item`], [`Deltas`].
//! - See how far the consumer is: [`ProgressObserver`], [`Progress`].
//! - Items that fail again and again: [`Exhausted`].
//!
//! This crate has no features.

#![forbid(unsafe_code)]
#![doc(test(attr(deny(warnings))))]

#[cfg(any(test, sim))]
#[macro_use]
#[path = "tests/planted/bugs.rs"]
mod planted;
/// Planted bugs are part of tests and of the simulator; other builds have none.
#[cfg(not(any(test, sim)))]
macro_rules! planted {
    ($bug:ident) => {
        false
    };
    ($bug:ident => $effect:expr) => {};
}

mod channel;
mod config;
mod delta;
mod delta_fifo;
mod deltas;
mod error;
mod in_order;
mod keys;
mod known;
mod lease;
mod queue;
mod queue_core;
mod spare;
mod sync;
#[cfg(any(test, fuzzing))]
mod tests;
mod tombstone;
mod transform;

#[cfg(any(test, sim))]
#[doc(hidden)]
pub use planted::{Planted, with as with_planted};

pub use channel::{Consumer, Leased, Producer, Progress, ProgressObserver, channel};
pub use config::Config;
pub use delta::Delta;
pub use delta_fifo::DeltaFifo;
pub use deltas::Deltas;
pub use error::{Closed, NeverSynced, NotLeased};
pub use in_order::InOrderQueue;
pub use known::Known;
pub use lease::{Exhausted, Item, Items, Lease, LeaseId};
pub use queue::{Deletion, Queue};
pub use tombstone::Final;
pub use transform::{Rejected, TransformError};

/// For fuzz targets, which are programs of their own (`crates/fuzz`).
#[cfg(fuzzing)]
#[doc(hidden)]
pub use tests::fuzzed as fuzzing;
