//! Whether the runtime of an informer lives.

use std::sync::Arc;

use crate::core::Core;

/// Held by a task of the informer that ends with it. A runtime that ends drops its tasks, and with
/// them the guard: then nothing follows the server any more, and nobody else would say so.
///
/// A runtime that lives and is not driven cannot be told from an idle one.
pub(crate) struct RuntimeGuard<T: Send + Sync + 'static>(Option<Arc<Core<T>>>);

impl<T: Send + Sync + 'static> RuntimeGuard<T> {
    pub(crate) fn new(core: &Arc<Core<T>>) -> Self {
        Self(Some(Arc::clone(core)))
    }

    /// The task has come to its end.
    pub(crate) fn disarm(mut self) {
        self.0 = None;
    }
}

impl<T: Send + Sync + 'static> Drop for RuntimeGuard<T> {
    fn drop(&mut self) {
        // A panic ends this task alone.
        if let Some(core) = self.0.take().filter(|_| !std::thread::panicking()) {
            core.runtime_ended();
        }
    }
}
