//! What the tasks and the handles of one informer share.

use std::future::Future;
use std::num::{NonZeroU32, NonZeroUsize};
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
use crate::applying::quarantine::Quarantine;
use crate::checker::Checking;
use crate::options::QueueKind;
use crate::running::launch::Launch;
use crate::running::renewal::Renew;
use crate::running::sources::Sources;
use crate::status::InformerStatus;
use crate::status::memory::MemoryMeter;
use crate::status::shared::{Identity, Lifecycle, SharedStatus};
use crate::sync::{Mutex, MutexGuard};

/// How the parts of one informer are set up; fixed when it is made.
pub(crate) struct Settings {
    pub(crate) queue: QueueKind,
    pub(crate) queue_bound: NonZeroUsize,
    /// The number of attempts before the key of a failing change is quarantined.
    pub(crate) attempts: NonZeroU32,
    /// The number of values one object may give one index.
    // SEC-24
    pub(crate) index_values: NonZeroUsize,
    /// The number of quarantined keys that are kept with their reasons.
    // SEC-23
    pub(crate) quarantined: NonZeroUsize,
    pub(crate) reflector: Config,
    pub(crate) default_resync: Option<Duration>,
    pub(crate) seed: u64,
    /// How the store is compared with the server, if it is.
    // FM-40
    pub(crate) checking: Option<Arc<Checking>>,
}

/// The shared part of one informer: what changes, and what runs.
pub(crate) struct Core<T: Send + Sync + 'static> {
    pub(crate) settings: Settings,
    pub(crate) launch: Box<dyn Launch<T>>,
    pub(crate) status: Arc<SharedStatus>,
    pub(crate) applier: Arc<Applier<T>>,
    pub(crate) meter: MemoryMeter,
    /// Replaces stored objects by better forms, if the decoder of the informer has any.
    pub(crate) renew: Option<Arc<dyn Renew<T>>>,
    pub(crate) runtime: Runtime,
}

/// The tasks of one informer.
#[derive(Default)]
pub(crate) struct Runtime {
    /// Cancelled when the informer is to end.
    pub(crate) stop: CancellationToken,
    /// Every task of the informer, so that its end can be waited for.
    // IN-5
    pub(crate) tasks: TaskTracker,
    pub(crate) sources: Sources,
    /// The runtime on which the tasks run; set at the start.
    pub(crate) handle: OnceLock<Handle>,
    /// See [`Runtime::turn`].
    turn: Mutex<()>,
}

impl Runtime {
    /// Locked while tasks are spawned, and while the informer begins to stop, so that the end
    /// includes every task there is.
    // IN-5
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        // It guards nothing that a panic could leave half-done.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
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
    pub(crate) fn new(
        identity: Identity,
        settings: Settings,
        launch: Box<dyn Launch<T>>,
        meter: MemoryMeter,
        renew: Option<Arc<dyn Renew<T>>>,
    ) -> Self {
        let mut processor = ProcessorConfig::default();
        if let Some(period) = settings.default_resync {
            processor = processor.check_period(period);
        }
        let status = Arc::new(SharedStatus::new(identity));
        let processor = Processor::new(processor);
        let (values, quarantine) = (settings.index_values, Quarantine::new(settings.quarantined));
        let applier = Applier::new(Arc::clone(&status), values, quarantine, processor);
        Self {
            applier: Arc::new(applier),
            status,
            settings,
            launch,
            meter,
            renew,
            runtime: Runtime::default(),
        }
    }

    /// The status, with the size of the store and with the handlers.
    pub(crate) fn status(&self) -> InformerStatus {
        let mut status = self.status.snapshot();
        let snapshot = self.applier.reader.snapshot();
        status.objects = snapshot.len();
        status.sequence = snapshot.sequence();
        status.handlers = self.applier.processor.listeners();
        let queued = status.sources.iter().map(|source| source.queued).sum();
        let (store, handlers) = (snapshot.memory(), &status.handlers);
        status.memory = self.meter.estimate(status.objects, store, queued, handlers);
        status
    }

    /// Prevents further starts, and cancels what runs.
    pub(crate) fn begin_stop(&self) {
        let turn = (!planted!(EndTakesNoTurn)).then(|| self.runtime.turn());
        self.status.set_lifecycle(Lifecycle::Stopping);
        self.runtime.stop.cancel();
        drop(turn);
    }

    /// Ends everything immediately: no task goes on, no callback begins. Returns what the
    /// handlers received, and what not.
    // IN-6
    pub(crate) fn abort(&self) -> StopReport {
        self.begin_stop();
        self.runtime.sources.abort();
        let handlers = self.applier.processor.stop(Duration::ZERO).now_or_never();
        self.status.set_lifecycle(Lifecycle::Stopped);
        handlers.expect("without a grace there is nothing to wait for")
    }
}
