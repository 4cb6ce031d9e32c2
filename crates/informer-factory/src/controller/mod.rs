//! One source, one queue, one consumer with a function that may fail; nothing is shared.
//!
//! The lowest rung of client-go's ladder (`Controller`, `Config.Process`): for a program that wants
//! every change exactly processed rather than observed. For many readers and handlers, and for
//! handlers that cannot fail, take a [`crate::SharedInformer`].

mod consume;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::num::NonZeroU32;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;
use informer_reflector::{ListWatch, ResourceVersion};
use informer_store::{Scope, StoreReader};
use tokio_util::task::AbortOnDropHandle;

use crate::applying::apply::Event;
use crate::applying::quarantine::Quarantined;
use crate::controller::consume::Consume;
use crate::error::NotSynced;
use crate::options::{ATTEMPTS, INDEX_VALUES, QUARANTINED, QUEUE_BOUND, QueueKind, random_seed};
use crate::running::core::{Core, Settings};
use crate::running::source_tasks::{SourceTasks, describe, queue};
use crate::status::InformerStatus;
use crate::status::shared::{Identity, Lifecycle};
use crate::status::wait;

/// The reaction to a change whose processing failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFailure {
    /// It is processed again after a delay, before any later change of its key; after the queue's
    /// number of attempts the key is quarantined. What client-go called `ErrRequeue`, without
    /// moving time backwards.
    // QU-06
    Retry {
        /// How long to wait.
        after: Duration,
    },
    /// The failure is counted and logged, and the change counts as processed.
    Skip,
}

impl Default for OnFailure {
    /// Again after 200 ms: long enough for a conflict to pass, short enough not to be noticed.
    fn default() -> Self {
        Self::Retry {
            after: Duration::from_millis(200),
        }
    }
}

/// How a [`Controller`] is set up.
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct ControllerConfig {
    /// For status and logs.
    pub name: Arc<str>,
    /// Which queue. Default: [`QueueKind::DeltaFifo`].
    pub queue: QueueKind,
    /// The reaction to failures. Default: retry.
    pub on_failure: OnFailure,
    /// Back-off, page size and timeouts.
    pub reflector: informer_reflector::Config,
    /// How often a change is tried before its key is quarantined. Default: 5, as the queue's: with
    /// the default delay about a second, so that one bad object does not hold up the rest for long.
    pub attempts: NonZeroU32,
    /// Where the jitter comes from, to make a run repeatable. Default: the operating system.
    pub seed: u64,
}

impl ControllerConfig {
    /// The defaults, with a name.
    pub fn named(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            queue: QueueKind::default(),
            on_failure: OnFailure::default(),
            reflector: informer_reflector::Config::default(),
            attempts: ATTEMPTS,
            seed: random_seed(),
        }
    }

    setters! {
        /// Chooses the queue.
        queue(queue: QueueKind) => queue = queue;
        /// Sets the number of attempts for a change.
        attempts(attempts: NonZeroU32) => attempts = attempts;
        /// Chooses the reaction to failures.
        on_failure(on_failure: OnFailure) => on_failure = on_failure;
    }
}

/// A source, a queue and one consumer.
pub struct Controller<T: Send + Sync + 'static> {
    core: Arc<Core<T>>,
    on_failure: OnFailure,
}

/// How a [`Controller`] ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ControllerReport {
    /// Changes processed, those that were skipped after a failure included.
    pub processed: u64,
    /// How often processing failed.
    pub failed: u64,
}

impl<T: Send + Sync + 'static> Controller<T> {
    /// A controller over a source.
    pub fn new<L>(source: Arc<L>, config: ControllerConfig) -> Self
    where
        L: ListWatch<Object = T>,
    {
        let settings = Settings {
            queue: config.queue,
            queue_bound: QUEUE_BOUND,
            reflector: config.reflector,
            attempts: config.attempts,
            index_values: INDEX_VALUES,
            quarantined: QUARANTINED,
            default_resync: None,
            seed: config.seed,
            checking: None,
        };
        let launch = Box::new(move |_: &Scope| Arc::clone(&source));
        let core = Core::new(Identity::named(config.name), settings, launch);
        Self {
            core: Arc::new(core),
            on_failure: config.on_failure,
        }
    }

    /// Returns a handle to observe the controller while it runs.
    pub fn handle(&self) -> ControllerHandle<T> {
        ControllerHandle {
            core: Arc::clone(&self.core),
        }
    }

    /// Processes changes one at a time until `stop` resolves, and then what has been received
    /// already.
    ///
    /// A change is processed *before* the store shows it, since only what was processed counts as
    /// done; a key that fails keeps its place before its later changes. Of several notifications
    /// that belong together, a relist of the in-order queue above all, the store shows none before
    /// all were processed; none of them is processed twice.
    ///
    /// # Panics
    ///
    /// A panic of `process` is the caller's: it passes through. So does the panic of a
    /// tokio runtime without a timer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the controller at once; what was being processed is lost with it.
    // CT-07
    pub async fn run<P, F, E>(
        self,
        process: P,
        stop: impl Future<Output = ()> + Send,
    ) -> ControllerReport
    where
        P: FnMut(Event<T>) -> F + Send,
        F: Future<Output = Result<(), E>> + Send,
        E: fmt::Display + Send,
    {
        let core = self.core;
        // However a run ends, its handles must not say that it goes on.
        let _stopped = scopeguard::guard(Arc::clone(&core), |core| {
            core.runtime.stop.cancel();
            core.status.set_lifecycle(Lifecycle::Stopped);
        });
        let sources = describe(&core, &[Scope::All]);
        core.status.begin();
        core.status.add_sources(&sources);
        let (producer, consumer) = queue(&core);
        let mut reflecting = AbortOnDropHandle::new(tokio::spawn({
            let core = Arc::clone(&core);
            async move {
                let (config, stop) = (core.settings.reflector.clone(), core.runtime.stop.clone());
                let scope = Scope::All;
                let source = SourceTasks { core, scope, stop };
                source.reflect(&producer, config).await;
                producer.close();
            }
        }));
        let mut consume = Consume {
            core: &core,
            on_failure: self.on_failure,
            process,
            report: ControllerReport::default(),
            begun: HashMap::new(),
        };
        {
            let mut consuming = std::pin::pin!(consume.run(&consumer));
            tokio::select! {
                () = &mut consuming => {
                    // It was not stopped, so the other half has ended first: by a panic.
                    if let Err(ended) = (&mut reflecting).await
                        && let Ok(panic) = ended.try_into_panic()
                    {
                        resume_unwind(panic);
                    }
                }
                () = stop => {
                    core.runtime.stop.cancel();
                    consuming.await;
                }
            }
        }
        consume.report
    }
}

/// A handle to observe a [`Controller`], while it runs and after.
#[derive_where(Clone)]
pub struct ControllerHandle<T: Send + Sync + 'static> {
    core: Arc<Core<T>>,
}

impl<T: Send + Sync + 'static> ControllerHandle<T> {
    /// True once everything of the first list has been processed or quarantined.
    // CT-08
    #[doc(alias = "HasSynced")]
    pub fn is_synced(&self) -> bool {
        self.core.status.is_synced()
    }

    /// Waits until [`is_synced`](Self::is_synced).
    ///
    /// # Errors
    ///
    /// [`NotSynced`] names the source, with its last failure: when `timeout` has passed, or as soon
    /// as the run has ended.
    ///
    /// # Cancel safety
    ///
    /// Safe; nothing is lost.
    #[doc(alias = "WaitForCacheSync")]
    pub async fn wait_synced(&self, timeout: Duration) -> Result<(), NotSynced> {
        let is_awaited = |lifecycle: Lifecycle| !lifecycle.is_over();
        wait::for_sync(&[&self.core.status], timeout, is_awaited).await
    }

    /// The newest version received.
    #[doc(alias = "LastSyncResourceVersion")]
    pub fn last_version(&self) -> Option<ResourceVersion> {
        let source = self.core.status.sources().into_iter().next()?;
        (!source.received.is_unset()).then_some(source.received)
    }

    /// The objects processed so far.
    pub fn reader(&self) -> StoreReader<T> {
        self.core.applier.reader.clone()
    }

    /// Keys that were given up.
    pub fn quarantined(&self) -> Vec<Quarantined> {
        self.core.applier.quarantine.list()
    }

    /// Phase, last failure, versions.
    pub fn status(&self) -> InformerStatus {
        self.core.status()
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for ControllerHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerHandle")
            .field("name", &self.core.status.name)
            .finish_non_exhaustive()
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for Controller<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.core.status.name)
            .finish_non_exhaustive()
    }
}
