//! The pointer to the newest state, which the writer swaps and readers load.
//!
//! In a test under `cfg(shuttle)` each load and each swap is a point at which the schedule may
//! switch threads (`tests/shuttle`); the inner steps of arc-swap are one step then.

use std::sync::Arc;

use crate::state::State;

/// The newest state of one store, shared by its writer and all its readers.
pub(crate) type Published<T, S> = Arc<ArcSwap<State<T, S>>>;

#[cfg(not(all(test, shuttle)))]
pub(crate) use arc_swap::{ArcSwap, Guard};

#[cfg(all(test, shuttle))]
mod scheduled {
    use std::sync::{Arc, PoisonError};

    use shuttle::sync::{Mutex, MutexGuard};

    /// The result of a load: it keeps the state alive and blocks no thread.
    pub(crate) type Guard<T> = T;

    pub(crate) struct ArcSwap<T>(Mutex<Arc<T>>);

    impl<T> From<Arc<T>> for ArcSwap<T> {
        fn from(first: Arc<T>) -> Self {
            Self(Mutex::new(first))
        }
    }

    impl<T> ArcSwap<T> {
        pub(crate) fn load(&self) -> Guard<Arc<T>> {
            self.load_full()
        }

        pub(crate) fn load_full(&self) -> Arc<T> {
            Arc::clone(&self.lock())
        }

        pub(crate) fn store(&self, next: Arc<T>) {
            let before = std::mem::replace(&mut *self.lock(), next);
            drop(before);
        }

        fn lock(&self) -> MutexGuard<'_, Arc<T>> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }
}

#[cfg(all(test, shuttle))]
pub(crate) use scheduled::{ArcSwap, Guard};
