//! The primitives on which those meet who ask, start and end.
//!
//! In a test under `cfg(shuttle)` they are shuttle's: each use of one is a point at which the
//! schedule may let another thread go on (`tests::shuttle`). What is tokio's, and what the layers below
//! do, is one step then.

#[cfg(all(test, shuttle))]
pub(crate) use shuttle::sync::{Mutex, MutexGuard, atomic};
#[cfg(not(all(test, shuttle)))]
pub(crate) use std::sync::{Mutex, MutexGuard, atomic};
