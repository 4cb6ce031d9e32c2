//! The tasks of one source: a reflector that fills a queue, and a loop that applies its items.
//!
//! A task that panics is restarted by the task that waits for it.

// FM-82

use std::future::Future;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;
use informer_deltafifo::{Config as QueueConfig, Consumer, DeltaFifo, InOrderQueue, Producer};
use informer_reflector::{
    Config as ReflectorConfig, Failure, FailureKind, InitialState, ResourceVersion,
};
use informer_store::{ObjectKey, Scope};
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::applying::applier::Lease;
use crate::applying::received_item::ReceivedItem;
use crate::applying::verdict::Refused;
use crate::checker;
use crate::options::QueueKind;
use crate::running::adapters::{FoundState, QueueSink, StoreReuse};
use crate::running::core::Core;
use crate::running::flood;
use crate::running::launch::Parts;

/// The number of items in one lease: client-go's batch size. A larger one would only make
/// the commits larger that readers wait for.
// RF-05
pub(crate) const BATCH: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// Between two attempts to run a reflector that panicked.
const AFTER_PANIC: Duration = Duration::from_secs(1);

pub(crate) type Producing<T> = Producer<ObjectKey, ReceivedItem<T>, ResourceVersion>;
pub(crate) type Consuming<T> = Consumer<ObjectKey, ReceivedItem<T>, ResourceVersion>;

/// Describes what the sources of these scopes list, for messages. Calls the user's code.
pub(crate) fn describe<T: Send + Sync + 'static>(
    core: &Core<T>,
    scopes: &[Scope],
) -> Vec<(Scope, Arc<str>)> {
    let describe = |scope: &Scope| (scope.clone(), core.launch.describe(scope));
    scopes.iter().map(describe).collect()
}

/// Starts described sources, as [`Sources::start`](super::sources::Sources::start).
pub(crate) fn start<T: Send + Sync + 'static>(
    core: &Arc<Core<T>>,
    sources: Vec<(Scope, Arc<str>)>,
) -> bool {
    let runtime = &core.runtime;
    runtime.sources.start(sources, &core.status, |scope| {
        let source = SourceTasks {
            core: Arc::clone(core),
            scope: scope.clone(),
            stop: runtime.stop.child_token(),
        };
        (source.stop.clone(), runtime.spawn(source.keep_running()))
    })
}

/// The queue between one reflector and its applying loop.
pub(crate) fn queue<T: Send + Sync + 'static>(core: &Core<T>) -> (Producing<T>, Consuming<T>) {
    let config = QueueConfig::default().max_attempts(core.settings.attempts);
    let bound = core.settings.queue_bound;
    match core.settings.queue {
        QueueKind::DeltaFifo => informer_deltafifo::channel(DeltaFifo::new(config), bound),
        QueueKind::InOrder => informer_deltafifo::channel(InOrderQueue::new(config), bound),
    }
}

/// The tasks of one source, which end when `stop` is cancelled.
#[derive_where(Clone)]
pub(crate) struct SourceTasks<T: Send + Sync + 'static> {
    pub(crate) core: Arc<Core<T>>,
    pub(crate) scope: Scope,
    pub(crate) stop: CancellationToken,
}

impl<T: Send + Sync + 'static> SourceTasks<T> {
    /// Runs the source, and restarts it when it panics outside the tasks it supervises.
    async fn keep_running(self) {
        let config = self.core.settings.reflector.clone();
        self.restarting("source", config, |config| self.clone().run(config))
            .await;
    }

    /// Runs a task until it ends by itself or the source is stopped. A task that panics is started
    /// again, from a new list.
    // FM-82
    async fn restarting<F>(
        &self,
        name: &str,
        mut config: ReflectorConfig,
        run: impl Fn(ReflectorConfig) -> F,
    ) where
        F: Future<Output: Send> + Send + 'static,
    {
        while !self.stop.is_cancelled() {
            match self.child(run(config.clone())).await {
                Ok(_) => return,
                Err(error) => self.panicked(&error, name),
            }
            // The new one has no version, and a list of any age could take the store back (FM-01).
            config.initial = InitialState::Consistent;
            // A task that panics immediately must not become a hot loop.
            let pause = tokio::time::sleep(AFTER_PANIC);
            self.stop.run_until_cancelled(pause).await;
        }
    }

    /// The reflector fills the queue, the applying loop empties it into the store. Ends when it is
    /// stopped and the queue has been drained.
    async fn run(self, config: ReflectorConfig) {
        let (producer, consumer) = queue(&self.core);
        let applying = self.child(self.clone().supervise(Arc::new(consumer)));
        let checking = self.core.settings.checking.clone().map(|checking| {
            let source = self.clone();
            let repair = move || source.core.runtime.sources.repair(&source.scope);
            let (applier, scope) = (Arc::clone(&self.core.applier), self.scope.clone());
            let (queue, seed) = (producer.observer(), self.seed());
            self.child(checker::run(checking, applier, scope, queue, seed, repair))
        });
        self.reflect(&producer, config).await;
        drop(checking);
        producer.close();
        // Draining ends by itself: the queue is closed. Its supervision has reported any panic.
        drop(applying.await);
    }

    /// Lists and watches into the queue until stopped. A reflector never ends by itself.
    pub(crate) async fn reflect(&self, producer: &Producing<T>, config: ReflectorConfig) {
        let run = |config| {
            let Self { core, scope, stop } = self.clone();
            let applier = &core.applier;
            let found = Arc::<FoundState>::default();
            let parts = Parts {
                reuse: Arc::new(StoreReuse::new(
                    applier.reader.clone(),
                    scope.clone(),
                    Arc::clone(&found),
                )),
                sink: QueueSink::new(Arc::clone(applier), scope.clone(), producer.clone(), found),
                status: Arc::clone(&core.status),
                config,
                seed: self.seed(),
                stop,
            };
            async move {
                let (control, reflector) = core.launch.launch(&scope, parts);
                core.runtime.sources.set_control(&scope, control);
                reflector.await
            }
        };
        self.restarting("reflector", config, run).await;
    }

    /// Starts the applying loop again when an index function panics in it. Leased items go back to
    /// the queue, one key at a time, until the culprit is quarantined.
    // STX-10, FM-82
    async fn supervise(self, consumer: Arc<Consuming<T>>) {
        loop {
            let applying = self.clone().apply_all(Arc::clone(&consumer));
            match self.child(applying).await {
                Ok(()) => return,
                Err(error) => self.note_panic(&error, "applying loop"),
            }
            let applier = &self.core.applier;
            applier.give_up(consumer.take_abandoned());
            // Giving up settles items too, such as the last one of the initial list.
            applier.publish(&self.scope, &consumer.observer(), None);
        }
    }

    /// Leases, applies and acknowledges until the queue is closed and empty.
    async fn apply_all(self, consumer: Arc<Consuming<T>>) {
        let progress = consumer.observer();
        while let Some(leased) = consumer.next(BATCH).await {
            let lease = Lease {
                scope: &self.scope,
                items: leased.items.iter().collect(),
                initial: leased.initial,
                version: leased.applied_after.as_ref(),
            };
            self.core.applier.apply(&lease, Refused::new());
            leased.ack();
            self.core.applier.publish(&self.scope, &progress, None);
            flood::attend(&self.core);
        }
    }

    /// Spawns a task of the informer that is aborted with its handle.
    fn child<F>(&self, task: F) -> AbortOnDropHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        AbortOnDropHandle::new(self.core.runtime.tasks.spawn(task))
    }

    /// Reports a panic as a failure of the source, until something is received again.
    fn panicked(&self, error: &JoinError, task: &str) {
        self.note_panic(error, task);
        if error.is_panic() {
            let message = format!("the {task} panicked");
            let failure = Failure::new(FailureKind::Panicked, "Panicked", message);
            self.core.status.fail(&self.scope, failure);
        }
    }

    fn note_panic(&self, error: &JoinError, task: &str) {
        if error.is_panic() {
            let status = &self.core.status;
            tracing::error!(informer = %status.name, task, "a task panicked and is started again");
            status.count_task_panic();
        }
    }

    /// Two reflectors must not draw the same delays, or they come back in step.
    // FM-11
    fn seed(&self) -> u64 {
        let seed = self.core.settings.seed;
        BuildHasherDefault::<DefaultHasher>::default().hash_one((seed, &self.scope))
    }
}
