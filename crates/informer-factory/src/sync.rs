//! Synchronization between lookups, startup and shutdown; and the clock.
//!
//! In a test under `cfg(shuttle)` the primitives are shuttle's: at each use of one the schedule may
//! switch threads (`tests::shuttle`). A step of tokio or of a layer below is one step then.

#[cfg(all(test, shuttle))]
pub(crate) use crate::tests::shuttle::map::{DashMap, Entry};
#[cfg(not(all(test, shuttle)))]
pub(crate) use dashmap::{DashMap, Entry};
#[cfg(all(test, shuttle))]
pub(crate) use shuttle::sync::{Mutex, MutexGuard, atomic};
#[cfg(not(all(test, shuttle)))]
pub(crate) use std::sync::{Mutex, MutexGuard, atomic};

/// The current time by tokio's clock, which tests can pause.
pub(crate) fn now() -> std::time::Instant {
    tokio::time::Instant::now().into_std()
}
