//! The async interface: a lock, wake-ups and a bound around a queue. Needs no runtime.
//!
//! Producers wait while the number of unsettled calls is at the bound (FQ-13, FM-88); consumers
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
//!
//! - FQ-10: close wakes everybody; no future waits for ever. `tests/channel.rs`
//! - FQ-11: a lease guard that is dropped gives everything back. `tests/channel.rs`
//! - FQ-13: the bound. `tests/channel.rs`

mod consumer;
mod leased;
mod producer;
mod progress;
mod waiters;

use std::num::NonZeroUsize;
use std::sync::{Arc, PoisonError};
use std::task::Waker;

use crate::lease::Quarantined;
use crate::queue::Queue;
use crate::sync::{Mutex, MutexGuard};

pub use consumer::Consumer;
pub use leased::Leased;
pub use producer::Producer;
pub use progress::{Progress, ProgressObserver};

use waiters::Waiters;

/// Makes a queue usable from tasks: one end fills it, the other drains it.
///
/// Producers wait while [`Queue::len`] is at least `bound`. client-go holds at most two batches
/// of 1,000 before its reflector has to wait.
pub fn channel<K, V, P>(
    queue: impl Queue<K, V, P> + 'static,
    bound: NonZeroUsize,
) -> (Producer<K, V, P>, Consumer<K, V, P>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            queue: Box::new(queue),
            waiters: Waiters::default(),
            abandoned: Vec::new(),
            producers: 1,
            consumer_lives: true,
            lease_out: false,
            turn: 0,
        }),
        bound: bound.get(),
    });
    (Producer::new(Arc::clone(&shared)), Consumer::new(shared))
}

/// What both ends share.
pub(crate) struct Shared<K, V, P> {
    pub(crate) state: Mutex<State<K, V, P>>,
    bound: usize,
}

pub(crate) struct State<K, V, P> {
    queue: Box<dyn Queue<K, V, P>>,
    waiters: Waiters,
    /// Quarantined when a guard was dropped, so that there was nobody to tell.
    abandoned: Vec<Quarantined<K, V>>,
    producers: usize,
    consumer_lives: bool,
    /// A guard may settle its lease after its consumer is gone.
    lease_out: bool,
    /// Counts state changes, so that watchers see whether they missed one.
    turn: u64,
}

impl<K, V, P> State<K, V, P> {
    /// Whether nobody will ever settle anything more.
    fn is_over(&self) -> bool {
        let nobody_drains = !self.consumer_lives && !self.lease_out;
        self.queue.is_closed() && (self.queue.is_empty() || nobody_drains)
    }
}

impl<K, V, P> Shared<K, V, P> {
    /// A panic of a snapshot or a transform leaves the queue whole, so a poisoned lock is good.
    fn lock(&self) -> MutexGuard<'_, State<K, V, P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and tells all who wait, after the lock is released.
    fn change<R>(&self, change: impl FnOnce(&mut State<K, V, P>) -> R) -> R {
        let (result, wakers) = {
            let mut state = self.lock();
            let early = planted!(WakersTakenFirst).then(|| turned(&mut state));
            if early.is_some() {
                drop(state);
                state = self.lock();
            }
            let result = change(&mut state);
            (result, early.unwrap_or_else(|| turned(&mut state)))
        };
        wakers.into_iter().for_each(Waker::wake);
        result
    }
}

/// Counts a state change: whom to wake once the lock is released.
fn turned<K, V, P>(state: &mut State<K, V, P>) -> Vec<Waker> {
    state.turn += 1;
    state.waiters.take()
}
