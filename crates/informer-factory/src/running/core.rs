//! What the tasks and the handles of one informer share.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use informer_processor::{Processor, ProcessorConfig, StopReport};
use informer_reflector::Config;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::applying::applier::Applier;
use crate::checker::Checking;
use crate::options::{Bounds, QueueKind};
use crate::running::launch::Launch;
use crate::running::sources::Sources;
use crate::status::shared::{Identity, Life, SharedStatus};
use crate::sync::{Mutex, MutexGuard};

/// How the parts of one informer are set up; fixed when it is made.
pub(crate) struct Settings {
    pub(crate) queue: QueueKind,
    pub(crate) queue_bound: NonZeroUsize,
    pub(crate) bounds: Bounds,
    pub(crate) reflector: Config,
    pub(crate) default_resync: Option<Duration>,
    pub(crate) seed: u64,
    /// How the store is compared with the server, where that was asked for (FM-40).
    pub(crate) checking: Option<Arc<Checking>>,
}

/// The shared part of one informer: what changes, and what runs.
pub(crate) struct Core<T: Send + Sync + 'static> {
    pub(crate) settings: Settings,
    pub(crate) launch: Box<dyn Launch<T>>,
    pub(crate) status: Arc<SharedStatus>,
    pub(crate) applier: Arc<Applier<T>>,
    pub(crate) runtime: Runtime,
}

/// The tasks of one informer.
#[derive(Default)]
pub(crate) struct Runtime {
    /// Cancelled when the informer is to end.
    pub(crate) stop: CancellationToken,
    /// Every task of the informer, so that its end can be waited for (IN-5).
    pub(crate) tasks: TaskTracker,
    pub(crate) sources: Sources,
    /// The runtime on which the tasks run; set at the start.
    handle: OnceLock<Handle>,
    /// See [`Runtime::turn`].
    turn: Mutex<()>,
}

impl Runtime {
    /// Locked while tasks are spawned, and while the informer begins to stop, so that the end
    /// includes every task there is (IN-5).
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        // It guards nothing that a panic could leave half-done.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fixes the runtime of all tasks that handles of the informer spawn.
    pub(crate) fn run_on(&self, handle: Handle) {
        // Ignored: an informer is started once.
        drop(self.handle.set(handle));
    }

    /// The runtime on which the tasks run; `None` before the start.
    pub(crate) fn handle(&self) -> Option<&Handle> {
        self.handle.get()
    }

    /// Spawns a task on the informer's runtime, whatever runtime the caller is on. Only after the
    /// start.
    pub(crate) fn spawn<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let handle = self.handle.get().expect("a task begins after the start");
        self.tasks.spawn_on(task, handle)
    }
}

impl<T: Send + Sync + 'static> Core<T> {
    pub(crate) fn new(identity: Identity, settings: Settings, launch: Box<dyn Launch<T>>) -> Self {
        let mut processor = ProcessorConfig::default();
        if let Some(period) = settings.default_resync {
            processor = processor.check_period(period);
        }
        let status = Arc::new(SharedStatus::new(identity));
        let processor = Processor::new(processor);
        Self {
            applier: Arc::new(Applier::new(
                Arc::clone(&status),
                settings.bounds,
                processor,
            )),
            status,
            settings,
            launch,
            runtime: Runtime::default(),
        }
    }

    /// Prevents further starts, and cancels what runs.
    pub(crate) fn begin_stop(&self) {
        let turn = (!planted!(EndTakesNoTurn)).then(|| self.runtime.turn());
        self.status.set_life(Life::Stopping);
        self.runtime.stop.cancel();
        drop(turn);
    }

    /// Ends everything immediately: no task goes on, no callback begins (IN-6). Returns what the
    /// handlers received, and what not.
    pub(crate) fn abort(&self) -> StopReport {
        self.begin_stop();
        self.runtime.sources.abort();
        let handlers = self.applier.processor.stop(Duration::ZERO).now_or_never();
        self.status.set_life(Life::Stopped);
        handlers.expect("without a grace there is nothing to wait for")
    }
}

/// Held by a task of the informer that ends with it. A runtime that ends drops its tasks, and with
/// them the guard: nothing follows the server from then on. What handlers on other runtimes and
/// threads have not received yet is still delivered.
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
            core.status.set_life(Life::Gone);
            core.runtime.stop.cancel();
            core.applier.processor.close();
        }
    }
}
