//! The synchronization primitives of a processor, and how it spawns threads and waits.
//!
//! In a test under `cfg(shuttle)` they are shuttle's: each use of one is a point at which the
//! schedule may let another thread go on (`schedules`). What is tokio's (`watch`) and what is set
//! before anybody else can look stays as it is: it is taken as one step.

use std::time::Instant;

/// The current time by tokio's clock, which tests can pause.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The nanoseconds from `epoch` to `at`.
pub(crate) fn nanos(epoch: Instant, at: Instant) -> u64 {
    u64::try_from(at.saturating_duration_since(epoch).as_nanos()).unwrap_or(u64::MAX - 1)
}

#[cfg(not(all(test, shuttle)))]
mod real {
    pub(crate) use std::sync::{Mutex, MutexGuard, atomic};
    pub(crate) use std::{thread, thread_local};

    pub(crate) use futures::executor::block_on;
    pub(crate) use tokio::time::timeout;
}

#[cfg(not(all(test, shuttle)))]
pub(crate) use real::*;

#[cfg(all(test, shuttle))]
pub(crate) use crate::tests::shuttle::primitives::*;
