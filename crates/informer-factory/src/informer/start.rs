//! Starting an informer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use scopeguard::ScopeGuard;
use tokio::runtime::Handle;

use crate::error::StartError;
use crate::informer::SharedInformer;
use crate::running::core::Core;
use crate::running::{resync, sampler, source_tasks};

use crate::status::shared::Lifecycle;

impl<T: Send + Sync + 'static> SharedInformer<T> {
    /// Starts to list and watch. A second call does nothing.
    ///
    /// # Errors
    ///
    /// [`StartError`] after a shutdown, outside a tokio runtime or on one without a timer, and when
    /// the runtime on which it was started has ended.
    // SI-02, FAX-2
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
            return core.status.refuse_if_over();
        }
        // An informer is started once.
        drop(core.runtime.handle.set(runtime));
        core.applier.begin_metrics();
        source_tasks::start(core, sources);
        // From here on the check period is settled: a handler that joins later cannot lower it.
        core.applier.processor.start();
        core.runtime.spawn(sampler::run(Arc::clone(core)));
        let guarded = scopeguard::guard(Arc::clone(core), |core| runtime_gone(&core));
        core.runtime.spawn(async move {
            resync::run(&guarded).await;
            ScopeGuard::into_inner(guarded);
        });
        drop(turn);
        // A runtime that has ended drops what it is given.
        Ok(core.status.refuse_if_gone()?)
    }
}

/// Called when a task that ends with the informer is dropped. A runtime that ends drops its tasks:
/// nothing follows the server from then on. Handlers on other runtimes and threads still receive
/// what is pending.
///
/// A runtime that exists and is not driven cannot be distinguished from an idle one.
fn runtime_gone<T: Send + Sync + 'static>(core: &Core<T>) {
    // A panic ends this task alone.
    if !std::thread::panicking() {
        core.status.set_lifecycle(Lifecycle::Gone);
        core.runtime.stop.cancel();
        core.applier.processor.close();
    }
}

/// Whether the current runtime has a timer, without which nothing of an informer works.
fn has_timer() -> bool {
    // tokio reports it by a panic only.
    let sleep = || drop(tokio::time::sleep(Duration::ZERO));
    catch_unwind(AssertUnwindSafe(sleep)).is_ok()
}
