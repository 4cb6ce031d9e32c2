//! The async interface: a lock, wake-ups and a bound around a queue. Needs no runtime.
//!
//! Producers wait while the number of unsettled calls is at the bound; consumers
//! wait for items to lease. Every state change wakes all waiters, which then look again: there
//! is one consumer and a few producers, and no wake-up can get lost with a future that was dropped.
//!
//! The consumer's code runs outside the lock, and so do the drops of leased items, of the items
//! that a relist left out, and of snapshots. These run under the lock, so their price is added to
//! every wait for it:
//!
//! - the transform of the queue, and [`Known`](crate::Known): the snapshot is taken under the lock,
//!   so that queue and store are seen in step;
//! - `Hash`, `Eq`, `Clone` and `Drop` of keys, and `Clone` and `Drop` of positions: keep both
//!   cheap. A `Hash` or `Eq` that panics in `nack` loses the items that are given back;
//! - `Clone` of the objects of failed items and of tombstones, and the drop of the state that a
//!   second deletion of a key replaces.

// FM-88
// - FQ-10: close wakes everybody; no future waits for ever. `tests/channel.rs`
// - FQ-11: a lease guard that is dropped gives everything back. `tests/channel.rs`
// - FQ-13: the bound. `tests/channel.rs`

mod consumer;
mod leased;
mod producer;
mod progress;
pub(crate) mod shared;
mod waiters;

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::queue::Queue;

pub use consumer::Consumer;
pub use leased::Leased;
pub use producer::Producer;
pub use progress::{Progress, ProgressObserver};

use shared::Shared;

/// Makes a queue usable from tasks: one end fills it, the other drains it.
///
/// Producers wait while [`Queue::len`] is at least `bound`. client-go holds at most two batches
/// of 1,000 before its reflector has to wait.
///
/// ```
/// use std::num::NonZeroUsize;
/// use informer_deltafifo::{DeltaFifo, channel};
///
/// # futures::executor::block_on(async {
/// let bound = NonZeroUsize::new(2_000).expect("not zero");
/// let (producer, consumer) = channel(DeltaFifo::<&str, u32, u64>::default(), bound);
/// producer.add("a", 1, 10).await?;
/// drop(producer);
/// while let Some(lease) = consumer.next(NonZeroUsize::MAX).await {
///     for item in &lease.items {
///         println!("{item:?}");
///     }
///     lease.ack();
/// }
/// assert_eq!(consumer.observer().progress().applied, Some(10));
/// # Ok::<(), informer_deltafifo::Closed<u32>>(()) })?;
/// # Ok::<(), informer_deltafifo::Closed<u32>>(())
/// ```
pub fn channel<K, V, P>(
    queue: impl Queue<K, V, P> + 'static,
    bound: NonZeroUsize,
) -> (Producer<K, V, P>, Consumer<K, V, P>) {
    let shared = Arc::new(Shared::new(Box::new(queue), bound));
    (Producer::new(Arc::clone(&shared)), Consumer::new(shared))
}
