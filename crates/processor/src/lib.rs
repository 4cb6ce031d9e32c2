//! Hands notifications to many handlers, none of which can delay another or the sender.
//!
//! A slow handler never delays the sender or another handler. Its pending notifications wait in a
//! ring of its own, which either grows and logs a warning, or keeps one entry per key
//! ([`Overflow`]). The sender takes one lock per listener and batch and goes on.
//!
//! ```
//! use std::{sync::Arc, time::Duration};
//! use informer_processor::{Added, ListenerConfig, Notification, Processor, Replay, handler_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let processor: Processor<&str, u32> = Processor::default();
//! let printer = handler_fn(|news: &Notification<&str, u32>| println!("{news:?}"));
//! let joining = processor.add(printer, ListenerConfig::named("printer"))?;
//! let handle = joining.begin(0, Replay::empty());
//! let added = Added::new("a", Arc::new(1));
//! processor.distribute(1, &[Arc::new(added.into())]);
//! processor.upstream_synced();
//! handle.wait_synced().await?;
//! assert!(processor.stop(Duration::from_secs(5)).await.is_clean());
//! # Ok(())
//! # }
//! ```
//!
//! # By task
//!
//! - Handle notifications: [`Handler`], [`AsyncHandler`], [`Callbacks`], [`handler_fn`],
//!   [`async_fn`], [`Filtered`], or an [`EventStream`].
//! - Choose what happens to a slow handler: [`ListenerConfig`], [`Overflow`].
//! - Join without a gap: [`Joining`], [`Replay`].
//! - Wait, look and remove: [`Registration`], [`ListenerStatus`].
//! - Send: [`Processor`], [`Notification`] with [`Added`], [`Updated`] and [`Deleted`].
//! - Stop: [`Processor::stop`], [`StopReport`].
//!
//! # Dependencies
//!
//! This crate does not depend on Kubernetes, on versions, on the source of notifications, or on how
//! objects are stored. A key is opaque, and so is an object.
//!
//! # The life of a notification
//!
//! `processor/fanout` passes a batch to each `listener`. Under its lock `listener/state` puts the
//! batch into the `backlog`: a `ring`, or a `coalesce` buffer with the table of `compress`. The
//! `delivery/consumer` takes it and passes the `listener/gate`. A task or thread of `delivery`, or
//! a `delivery/stream`, gives it to the user.
//!
//! # Promises
//!
//! - One callback at a time per listener, each notification at most once.
//! - A growing listener receives every notification in order; a coalescing one receives a
//!   legal compression of them, with the same result.
//! - A listener that joins late receives every present object once, marked as initial, and every
//!   later notification.
//! - A handler that blocks or panics changes nothing for others. The same holds for
//!   a panic of an object's drop, of a waker or of an iterator. Two drops that panic while one
//!   notification or one batch is dropped abort the process, as everywhere in Rust.
//! - After a removal no callback starts; once the removal was awaited, none runs.
//! - A listener is synced when the callbacks of all initial objects have returned.
//! - Except `Hash`, `Eq` and `Clone` of keys no user code runs under a lock, and a delivery task
//!   yields after at most 4,096 items.
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
}

mod backlog;
mod boundary;
mod delivery;
mod error;
mod handler;
mod listener;
mod notification;
mod processor;
mod sync;

#[cfg(any(test, fuzzing))]
mod tests;

#[cfg(any(test, sim))]
#[doc(hidden)]
pub use planted::{Planted, with as with_planted};

pub use delivery::stream::EventStream;
pub use error::{AddError, NeverSynced, NotDelivered, RemoveError};
pub use handler::callbacks::{AsyncFn, Callbacks, HandlerFn, async_fn, handler_fn};
pub use handler::filter::Filtered;
pub use handler::{AsyncHandler, Handler};
pub use listener::config::{ListenerConfig, Overflow};
pub use listener::replay::Replay;
pub use listener::resync::{ResyncReason, ResyncTerms};
pub use listener::status::{ListenerId, ListenerPhase, ListenerStatus};
pub use notification::{Added, Cause, Deleted, Key, Notification, Updated};
pub use processor::joining::Joining;
pub use processor::registration::Registration;
pub use processor::stop::{ListenerReport, StopReport};
pub use processor::{JoiningStream, Processor, ProcessorConfig};

/// For fuzz targets, which are programs of their own (`crates/fuzz`).
#[cfg(fuzzing)]
#[doc(hidden)]
pub use tests::fuzzed as fuzzing;
