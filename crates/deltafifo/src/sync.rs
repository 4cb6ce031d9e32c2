//! The one primitive on which the ends of a queue meet.
//!
//! In a test under `cfg(shuttle)` it is shuttle's: each use of it is a point at which the schedule
//! may let another thread go on (`tests::shuttle`).

#[cfg(all(test, shuttle))]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(all(test, shuttle)))]
pub(crate) use std::sync::{Mutex, MutexGuard};
