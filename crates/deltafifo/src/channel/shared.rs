//! The state that the ends and the observers of a channel share, and its lock.

use std::num::NonZeroUsize;
use std::sync::PoisonError;
use std::task::Waker;

use super::waiters::Waiters;
use crate::lease::Exhausted;
use crate::queue::Queue;
use crate::sync::{Mutex, MutexGuard};

/// The state of one channel, and its bound.
pub(crate) struct Shared<K, V, P> {
    pub(crate) state: Mutex<State<K, V, P>>,
    pub(super) bound: usize,
}

pub(crate) struct State<K, V, P> {
    pub(super) queue: Box<dyn Queue<K, V, P>>,
    pub(super) waiters: Waiters,
    /// Items that were exhausted when a guard was dropped, which returns no value.
    pub(super) abandoned: Vec<Exhausted<K, V>>,
    pub(super) producers: usize,
    pub(super) consumer_lives: bool,
    /// A guard may settle its lease after its consumer is gone.
    pub(super) lease_out: bool,
    /// Counts state changes, so that watchers see whether they missed one.
    pub(super) turn: u64,
}

impl<K, V, P> State<K, V, P> {
    /// Whether nobody will ever settle anything more.
    pub(super) fn is_over(&self) -> bool {
        let nobody_drains = !self.consumer_lives && !self.lease_out;
        self.queue.is_closed() && (self.queue.is_empty() || nobody_drains)
    }
}

impl<K, V, P> Shared<K, V, P> {
    pub(super) fn new(queue: Box<dyn Queue<K, V, P>>, bound: NonZeroUsize) -> Self {
        let state = State {
            queue,
            waiters: Waiters::default(),
            abandoned: Vec::new(),
            producers: 1,
            consumer_lives: true,
            lease_out: false,
            turn: 0,
        };
        Self {
            state: Mutex::new(state),
            bound: bound.get(),
        }
    }

    /// A panic of a snapshot or a transform leaves the queue whole, so a poisoned lock is good.
    pub(super) fn lock(&self) -> MutexGuard<'_, State<K, V, P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and tells all who wait, after the lock is released.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut State<K, V, P>) -> R) -> R {
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
pub(super) fn turned<K, V, P>(state: &mut State<K, V, P>) -> Vec<Waker> {
    state.turn += 1;
    state.waiters.take()
}
