//! The tasks of one source: a reflector that fills a queue, and a loop that applies its items.
//!
//! A task that panics is restarted by the task that waits for it (FM-82).

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use informer_deltafifo::{Config as QueueConfig, Consumer, DeltaFifo, InOrderQueue, Producer};
use informer_reflector::{
    Config as ReflectorConfig, Failure, FailureKind, InitialState, ResourceVersion,
};
use informer_store::{ObjectKey, Scope};
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::applying::applier::Lease;
use crate::applying::arrival::Arrival;
use crate::applying::verdict::Refused;
use crate::checker;
use crate::options::QueueKind;
use crate::running::adapters::{QueueSink, StoreReuse};
use crate::running::core::Core;
use crate::running::flood;
use crate::running::launch::Parts;
use crate::status::observer::StatusObserver;
use crate::status::shared::SharedStatus;

/// Works taken from the queue at once: client-go's batch size (RF-05). More would only make the
/// commits larger that readers wait to see.
pub(crate) const BATCH: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// Between two attempts to run a reflector that panicked.
const AFTER_PANIC: Duration = Duration::from_secs(1);

pub(crate) type Producing<T> = Producer<ObjectKey, Arrival<T>, ResourceVersion>;
pub(crate) type Consuming<T> = Consumer<ObjectKey, Arrival<T>, ResourceVersion>;

/// What the sources of these scopes list, for messages. Calls the user's code.
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
        let stop = runtime.stop.child_token();
        let source = keep_running(Arc::clone(core), scope.clone(), stop.clone());
        (stop, runtime.spawn(source))
    })
}

/// Runs one source, and restarts it when it panics outside the tasks it supervises (FM-82).
async fn keep_running<T: Send + Sync + 'static>(
    core: Arc<Core<T>>,
    scope: Scope,
    stop: CancellationToken,
) {
    let mut config = core.settings.reflector.clone();
    loop {
        let source = run(
            Arc::clone(&core),
            scope.clone(),
            stop.clone(),
            config.clone(),
        );
        match AbortOnDropHandle::new(core.runtime.tasks.spawn(source)).await {
            Ok(()) => return,
            Err(error) => panicked(&core.status, &scope, &error, "source"),
        }
        config.initial = InitialState::Consistent;
        if !after_panic(&stop).await {
            return;
        }
    }
}

/// Waits before a task that panicked is started again, so that one that panics immediately does not
/// become a hot loop. False if there is nothing to start any more.
async fn after_panic(stop: &CancellationToken) -> bool {
    let pause = tokio::time::sleep(AFTER_PANIC);
    stop.run_until_cancelled(pause).await.is_some()
}

/// One source: the reflector fills the queue, the applying loop empties it into the store. Ends
/// when it is told to stop and the queue has been drained (design 6.11).
async fn run<T: Send + Sync + 'static>(
    core: Arc<Core<T>>,
    scope: Scope,
    stop: CancellationToken,
    config: ReflectorConfig,
) {
    let (producer, consumer) = queue(&core);
    let applying = supervise(Arc::clone(&core), scope.clone(), Arc::new(consumer));
    let applying = AbortOnDropHandle::new(core.runtime.tasks.spawn(applying));
    let seed = seed_of(core.settings.seed, &scope);
    let checking = core.settings.checking.clone().map(|checking| {
        let repair = {
            let (core, scope) = (Arc::clone(&core), scope.clone());
            move || core.runtime.sources.repair(&scope)
        };
        let applier = Arc::clone(&core.applier);
        let queue = producer.observer();
        let checks = checker::run(checking, applier, scope.clone(), queue, seed, repair);
        AbortOnDropHandle::new(core.runtime.tasks.spawn(checks))
    });
    reflect(&core, &scope, &producer, &stop, config).await;
    drop(checking);
    producer.close();
    // Draining ends by itself: the queue is closed. A panic in it was reported by its supervision.
    drop(applying.await);
}

/// The queue between one reflector and its applying loop.
pub(crate) fn queue<T: Send + Sync + 'static>(core: &Core<T>) -> (Producing<T>, Consuming<T>) {
    let config = QueueConfig::default().max_attempts(core.settings.bounds.attempts);
    let bound = core.settings.queue_bound;
    match core.settings.queue {
        QueueKind::DeltaFifo => informer_deltafifo::channel(DeltaFifo::new(config), bound),
        QueueKind::InOrder => informer_deltafifo::channel(InOrderQueue::new(config), bound),
    }
}

/// Lists and watches into the queue until told to stop. A reflector never ends by itself (FM-82):
/// if one panics, it is started again, from a new list.
pub(crate) async fn reflect<T: Send + Sync + 'static>(
    core: &Arc<Core<T>>,
    scope: &Scope,
    producer: &Producing<T>,
    stop: &CancellationToken,
    mut config: ReflectorConfig,
) {
    while !stop.is_cancelled() {
        let parts = Parts {
            sink: QueueSink::new(Arc::clone(&core.applier), scope.clone(), producer.clone()),
            reuse: Arc::new(StoreReuse(core.applier.reader.clone())),
            observer: StatusObserver {
                status: Arc::clone(&core.status),
                scope: scope.clone(),
            },
            config: config.clone(),
            seed: seed_of(core.settings.seed, scope),
            stop: stop.clone(),
        };
        let reflector = {
            let (core, scope) = (Arc::clone(core), scope.clone());
            async move {
                let (control, reflector) = core.launch.launch(&scope, parts);
                core.runtime.sources.set_control(&scope, control);
                reflector.await
            }
        };
        match AbortOnDropHandle::new(core.runtime.tasks.spawn(reflector)).await {
            Ok(_) => return,
            Err(error) => panicked(&core.status, scope, &error, "reflector"),
        }
        // The new one knows no version, and a list of any age could take the store back (FM-01).
        config.initial = InitialState::Consistent;
        after_panic(stop).await;
    }
}

/// Starts the applying loop again when an index function panics in it (STX-10, FM-82). What was
/// leased goes back to the queue, one key at a time, until the culprit is quarantined.
async fn supervise<T: Send + Sync + 'static>(
    core: Arc<Core<T>>,
    scope: Scope,
    consumer: Arc<Consuming<T>>,
) {
    loop {
        let applying = apply_all(Arc::clone(&core), scope.clone(), Arc::clone(&consumer));
        match AbortOnDropHandle::new(core.runtime.tasks.spawn(applying)).await {
            Ok(()) => return,
            Err(error) => note_panic(&core.status, &error, "applying loop"),
        }
        let applier = &core.applier;
        applier.give_up(consumer.take_abandoned());
        // Giving up settles things too: the last of the initial list, say.
        applier.publish(&scope, &consumer.observer(), None);
    }
}

/// Reports a panic as a failure of the source, until something is received again.
fn panicked(status: &SharedStatus, scope: &Scope, error: &JoinError, task: &str) {
    note_panic(status, error, task);
    if error.is_panic() {
        let message = format!("the {task} panicked");
        let failure = Failure::new(FailureKind::Panicked, "Panicked", message);
        status.fail(scope, failure);
    }
}

fn note_panic(status: &SharedStatus, error: &JoinError, task: &str) {
    if error.is_panic() {
        tracing::error!(informer = %status.name, task, "a task panicked and is started again");
        status.count_task_panic();
    }
}

/// Leases, applies and acknowledges until the queue is closed and empty.
async fn apply_all<T: Send + Sync + 'static>(
    core: Arc<Core<T>>,
    scope: Scope,
    consumer: Arc<Consuming<T>>,
) {
    let watcher = consumer.observer();
    while let Some(leased) = consumer.next(BATCH).await {
        let lease = Lease {
            scope: &scope,
            works: leased.items.iter().collect(),
            initial: leased.initial,
            version: leased.applied_after.as_ref(),
        };
        core.applier.apply(&lease, Refused::new());
        leased.ack();
        core.applier.publish(&scope, &watcher, None);
        flood::attend(&core);
    }
}

/// Two reflectors must not draw the same delays, or they come back in step (FM-11).
fn seed_of(seed: u64, scope: &Scope) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one((seed, scope))
}
