//! How an informer begins to run, and whether its runtime lives.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::error::StartError;
use crate::informer::SharedInformer;
use crate::running::core::Core;
use crate::running::resync;
use crate::status::handler_metrics;

impl<T: Send + Sync + 'static> SharedInformer<T> {
    /// Starts to list and watch. A second call does nothing (SI-02, FAX-2).
    ///
    /// # Errors
    ///
    /// [`StartError`] after a shutdown, outside a tokio runtime or on one without a timer, and when
    /// the runtime on which it was started has ended.
    pub fn start(&self) -> Result<(), StartError> {
        let runtime = Handle::try_current().map_err(|_none| StartError::NoRuntime)?;
        if !has_timer() {
            return Err(StartError::NoTimer);
        }
        let turn = self.core().turn();
        if !self.core().board.begin() {
            if let Some(gone) = self.core().board.gone() {
                return Err(gone.into());
            }
            return match self.core().board.life().is_over() {
                false => Ok(()),
                true => Err(self.stopped().into()),
            };
        }
        self.core().run_on(runtime);
        self.core().sources.start(self.core(), &self.scopes);
        // From here on the check period is settled: who joins later cannot lower it (SI-16).
        self.core().processor.start();
        self.core().begin_metrics();
        self.core()
            .spawn(handler_metrics::run(Arc::clone(self.core())));
        let (core, guard) = (Arc::clone(self.core()), RuntimeGuard::new(self.core()));
        self.core().spawn(async move {
            resync::run(core).await;
            guard.disarm();
        });
        drop(turn);
        // A runtime that has ended drops what it is given.
        match self.core().board.gone() {
            Some(gone) => Err(gone.into()),
            None => Ok(()),
        }
    }
}

/// Whether the current runtime has a timer, without which nothing of an informer works.
fn has_timer() -> bool {
    // tokio tells by a panic only.
    let sleep = || drop(tokio::time::sleep(Duration::ZERO));
    catch_unwind(AssertUnwindSafe(sleep)).is_ok()
}

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
