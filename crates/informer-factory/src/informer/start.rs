//! Starting an informer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::error::StartError;
use crate::informer::SharedInformer;
use crate::running::core::{Core, RuntimeGuard};
use crate::running::{resync, source_tasks};
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
        let core = self.core();
        // The user's code runs before anything has changed, and under no lock.
        let sources = source_tasks::describe(core, &self.scopes);
        let turn = core.runtime.turn();
        if !core.status.begin() {
            self.refuse_without_runtime()?;
            return match self.has_ended() {
                false => Ok(()),
                true => Err(self.stopped().into()),
            };
        }
        core.runtime.run_on(runtime);
        source_tasks::start(core, sources);
        // From here on the check period is settled: a handler that joins later cannot lower it.
        core.applier.processor.start();
        core.applier.begin_metrics();
        let shared = Arc::clone(core);
        core.runtime.spawn(async move {
            let Core {
                applier, runtime, ..
            } = &*shared;
            let (changed, stop) = (&applier.backlogs_changed, &runtime.stop);
            let listeners = || applier.processor.listeners();
            handler_metrics::run(&shared.status.label, listeners, changed, stop).await;
        });
        let (shared, guard) = (Arc::clone(core), RuntimeGuard::new(core));
        core.runtime.spawn(async move {
            resync::run(&shared).await;
            guard.disarm();
        });
        drop(turn);
        // A runtime that has ended drops what it is given.
        Ok(self.refuse_without_runtime()?)
    }
}

/// Whether the current runtime has a timer, without which nothing of an informer works.
fn has_timer() -> bool {
    // tokio tells by a panic only.
    let sleep = || drop(tokio::time::sleep(Duration::ZERO));
    catch_unwind(AssertUnwindSafe(sleep)).is_ok()
}
