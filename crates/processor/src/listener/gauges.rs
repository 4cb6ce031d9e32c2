//! Numbers that a consumer keeps without the lock of its listener.
//!
//! The consumer is their only writer, so that they need no read-modify-write.

use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// No callback is running.
const IDLE: u64 = u64::MAX;

/// The numbers of one consumer. See the module.
#[derive(Debug)]
pub(crate) struct Gauges {
    /// Entries that were taken and are not handled yet.
    in_flight: AtomicUsize,
    delivered: AtomicU64,
    /// The time since when the notification being handled had waited, or `IDLE`.
    running_since: AtomicU64,
    /// The items of the active replay that were not pulled yet, at least.
    replay_left: AtomicUsize,
}

impl Gauges {
    pub(crate) fn new() -> Self {
        Self {
            in_flight: AtomicUsize::new(0),
            delivered: AtomicU64::new(0),
            running_since: AtomicU64::new(IDLE),
            replay_left: AtomicUsize::new(0),
        }
    }

    #[inline]
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn set_in_flight(&self, count: usize) {
        self.in_flight.store(count, Ordering::Release);
    }

    /// Sets the entries in flight to none, and returns how many there were.
    pub(crate) fn lose(&self) -> usize {
        self.in_flight.swap(0, Ordering::AcqRel)
    }

    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Acquire)
    }

    pub(crate) fn running_since(&self) -> Option<u64> {
        Some(self.running_since.load(Ordering::Acquire)).filter(|since| *since != IDLE)
    }

    #[inline]
    pub(crate) fn set_running(&self, since: Option<u64>) {
        let since = since.unwrap_or(IDLE);
        self.running_since.store(since, Ordering::Release);
    }

    pub(crate) fn replay_left(&self) -> usize {
        self.replay_left.load(Ordering::Acquire)
    }

    #[inline]
    pub(crate) fn set_replay_left(&self, left: usize) {
        self.replay_left.store(left, Ordering::Release);
    }

    /// Counts a callback that has returned. The next one, if any, waits since `next`.
    #[inline]
    pub(crate) fn handled(&self, next: Option<u64>) {
        self.set_running(next);
        self.delivered
            .store(self.delivered() + 1, Ordering::Release);
    }
}
