//! One source, one queue, one consumer with a function that may fail; nothing is shared.
//!
//! The lowest rung of client-go's ladder (`Controller`, `Config.Process`).

mod consume;

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::num::NonZeroU32;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;
use informer_reflector::{Config as ReflectorConfig, ListWatch, ResourceVersion};
use informer_store::{Scope, StoreReader};
use tokio_util::task::AbortOnDropHandle;

use crate::applying::apply::Event;
use crate::applying::quarantine::Quarantined;
use crate::change_consumer::consume::Consume;
use crate::error::NotSynced;
use crate::options::{ATTEMPTS, INDEX_VALUES, QUARANTINED, QUEUE_BOUND, QueueKind, random_seed};
use crate::running::core::{Core, Settings};
use crate::running::sampler;
use crate::running::source_tasks::{SourceTasks, describe, queue};
use crate::status::InformerStatus;
use crate::status::memory::MemoryMeter;
use crate::status::shared::{Identity, Lifecycle};
use crate::status::wait;

/// The reaction to a change whose processing failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

/// The settings of a [`ChangeConsumer`].
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct ChangeConsumerConfig {
    /// The name in status, logs and metrics. The estimate of memory there counts each object with
    /// the size of its type.
    pub name: Arc<str>,
    /// Which queue. Default: [`QueueKind::DeltaFifo`].
    pub queue: QueueKind,
    /// The reaction to failures. Default: retry.
    pub on_failure: OnFailure,
    /// Back-off, page size and timeouts. Default: those of [`ReflectorConfig`].
    pub reflector: ReflectorConfig,
    /// How often a change is tried before its key is quarantined. Default: 5, as the queue's: with
    /// the default delay about a second, so that one bad object does not hold up the rest for long.
    pub attempts: NonZeroU32,
    /// Where the jitter comes from, to make a run repeatable. Default: the operating system.
    pub seed: u64,
}

impl ChangeConsumerConfig {
    /// The defaults, with a name.
    pub fn named(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            queue: QueueKind::default(),
            on_failure: OnFailure::default(),
            reflector: ReflectorConfig::default(),
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
        /// Configures the reflector.
        reflector(config: ReflectorConfig) => reflector = config;
        /// Sets the seed of the jitter.
        seed(seed: u64) => seed = seed;
    }
}

/// Processes every change of one source with one function, which may fail and is called again.
///
/// Use it for a program that must have processed each change, such as one that copies a collection
/// to another system. It does not reconcile: there is no work queue, and a change is processed as
/// an [`Event`], not as a key. For several handlers or readers, and for handlers that cannot fail,
/// use a [`SharedInformer`](crate::SharedInformer).
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use informer_factory::{ChangeConsumer, ChangeConsumerConfig, Event};
/// use informer_testkit::{ApiServer, Resource};
/// use k8s_openapi::api::core::v1::Pod;
/// use tokio::sync::oneshot;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = ApiServer::new();
/// server.create(&Resource::pods(), serde_json::json!({"metadata": {"name": "web-0"}}))?;
/// // Against a cluster: a `KubeListWatch`.
/// let source = Arc::new(server.source::<Pod>(&Resource::pods())?);
///
/// let consumer = ChangeConsumer::new(source, ChangeConsumerConfig::named("pods"));
/// let (handle, (stop, stopped)) = (consumer.handle(), oneshot::channel::<()>());
/// let copy = |pod: Event<Pod>| async move {
///     println!("copied {}", pod.key());
///     Ok::<(), std::io::Error>(()) // An error is logged, and the change is processed again.
/// };
/// let running = tokio::spawn(consumer.run(copy, async { drop(stopped.await) }));
/// handle.wait_synced(Duration::from_secs(30)).await?;
/// drop(stop);
/// assert_eq!(running.await?.processed, 1);
/// # Ok(()) }
/// ```
#[doc(alias = "Controller")]
pub struct ChangeConsumer<T: Send + Sync + 'static> {
    core: Arc<Core<T>>,
    on_failure: OnFailure,
}

/// How a [`ChangeConsumer`] ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeConsumerReport {
    /// Changes processed, those that were skipped after a failure included.
    pub processed: u64,
    /// How often processing failed.
    pub failed: u64,
}

impl<T: Send + Sync + 'static> ChangeConsumer<T> {
    /// Makes a consumer over a source, such as a
    /// [`KubeListWatch`](crate::kube_source::KubeListWatch).
    pub fn new<L>(source: Arc<L>, config: ChangeConsumerConfig) -> Self
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
        let meter = MemoryMeter::new::<T>(|| (None, 0), None);
        let core = Core::new(Identity::named(config.name), settings, launch, meter, None);
        Self {
            core: Arc::new(core),
            on_failure: config.on_failure,
        }
    }

    /// Returns a handle to observe the consumer while it runs.
    pub fn handle(&self) -> ChangeConsumerHandle<T> {
        ChangeConsumerHandle {
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
    /// Dropping the future ends the consumer immediately; what was being processed is lost with it.
    // CT-07
    pub async fn run<P, F, E>(
        self,
        process: P,
        stop: impl Future<Output = ()> + Send,
    ) -> ChangeConsumerReport
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
        core.applier.begin_metrics();
        core.status.add_sources(&sources);
        let _sampling = AbortOnDropHandle::new(tokio::spawn(sampler::run(Arc::clone(&core))));
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
            report: ChangeConsumerReport::default(),
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

/// A handle to observe a [`ChangeConsumer`], while it runs and after.
#[derive_where(Clone)]
pub struct ChangeConsumerHandle<T: Send + Sync + 'static> {
    core: Arc<Core<T>>,
}

impl<T: Send + Sync + 'static> ChangeConsumerHandle<T> {
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

impl<T: Send + Sync + 'static> fmt::Debug for ChangeConsumerHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeConsumerHandle")
            .field("name", &self.core.status.name)
            .finish_non_exhaustive()
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for ChangeConsumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChangeConsumer")
            .field("name", &self.core.status.name)
            .finish_non_exhaustive()
    }
}
