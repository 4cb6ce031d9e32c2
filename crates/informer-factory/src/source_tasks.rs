//! What one source runs: a reflector that fills a queue, and a loop that applies what is in it.
//!
//! Each task is begun anew when it panics (FM-82), by the task that waits for it.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use informer_deltafifo::{
    Config as QueueConfig, Consumer, DeltaFifo, InOrderQueue, Item, Producer, Quarantined, channel,
};
use informer_reflector::{
    Config as ReflectorConfig, Failure, FailureKind, InitialState, ResourceVersion,
};
use informer_store::{ObjectKey, Scope};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use crate::adapters::{QueueSink, StoreReuse};
use crate::arrival::Arrival;
use crate::checker;
use crate::core::Core;
use crate::flood;
use crate::launch::Parts;
use crate::observer::BoardObserver;
use crate::options::QueueKind;

/// Works taken from the queue at once: client-go's batch size (RF-05). More would only make the
/// commits larger that readers wait to see.
pub(crate) const BATCH: NonZeroUsize = NonZeroUsize::new(1_000).expect("1,000 is not zero");

/// Between two attempts to run a reflector that panicked.
const AFTER_PANIC: Duration = Duration::from_secs(1);

pub(crate) type Producing<T> = Producer<ObjectKey, Arrival<T>, ResourceVersion>;
pub(crate) type Consuming<T> = Consumer<ObjectKey, Arrival<T>, ResourceVersion>;

/// Ends a task when the one that waits for it is dropped, so that nothing outlives its source.
pub(crate) struct AbortOnDrop(pub(crate) AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// One source, begun anew when it panics outside the tasks that it supervises itself (FM-82).
pub(crate) async fn keep_running<T: Send + Sync + 'static>(
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
        let source = core.tasks.spawn(source);
        let _guard = AbortOnDrop(source.abort_handle());
        match source.await {
            Ok(()) => return,
            Err(error) => panicked(&core, &scope, &error, "source"),
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
    tokio::select! {
        () = stop.cancelled() => false,
        () = tokio::time::sleep(AFTER_PANIC) => true,
    }
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
    let applying = core.tasks.spawn(supervise(
        Arc::clone(&core),
        scope.clone(),
        Arc::new(consumer),
    ));
    let _guard = AbortOnDrop(applying.abort_handle());
    let seed = seed_of(core.settings.seed, &scope);
    let checking = core.settings.checking.as_ref().map(|_| {
        let checks = checker::run(Arc::clone(&core), scope.clone(), producer.observer(), seed);
        AbortOnDrop(core.tasks.spawn(checks).abort_handle())
    });
    reflect(&core, &scope, &producer, &stop, config).await;
    drop(checking);
    producer.close();
    // Draining ends by itself: the queue is closed. A panic in it was reported by its supervision.
    drop(applying.await);
}

/// The queue between one reflector and its applying loop.
pub(crate) fn queue<T: Send + Sync + 'static>(core: &Core<T>) -> (Producing<T>, Consuming<T>) {
    let config = QueueConfig::default().max_attempts(core.settings.attempts);
    let bound = core.settings.queue_bound;
    match core.settings.queue {
        QueueKind::DeltaFifo => channel(DeltaFifo::new(config), bound),
        QueueKind::InOrder => channel(InOrderQueue::new(config), bound),
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
            sink: QueueSink::new(Arc::clone(core), scope.clone(), producer.clone()),
            reuse: Arc::new(StoreReuse(core.reader.clone())),
            observer: BoardObserver {
                board: Arc::clone(&core.board),
                scope: scope.clone(),
            },
            config: config.clone(),
            seed: seed_of(core.settings.seed, scope),
            stop: stop.clone(),
        };
        let reflector = core.tasks.spawn({
            let (core, scope) = (Arc::clone(core), scope.clone());
            async move {
                let (control, reflector) = core.launch.launch(&scope, parts);
                core.sources.set_control(&scope, control);
                reflector.await
            }
        });
        let _guard = AbortOnDrop(reflector.abort_handle());
        match reflector.await {
            Ok(_) => return,
            Err(error) => panicked(core, scope, &error, "reflector"),
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
        let task = core.tasks.spawn(apply_all(
            Arc::clone(&core),
            scope.clone(),
            Arc::clone(&consumer),
        ));
        let _guard = AbortOnDrop(task.abort_handle());
        match task.await {
            Ok(()) => return,
            Err(error) => note_panic(&core, &error, "applying loop"),
        }
        quarantine(&core, consumer.take_abandoned());
        // Giving up settles things too: the last of the initial list, say.
        core.publish(&scope, &consumer.observer(), None);
    }
}

/// What was tried often enough is told by key (IN-7); the store keeps the last good version.
pub(crate) fn quarantine<T: Send + Sync + 'static>(
    core: &Core<T>,
    failed: Vec<Quarantined<ObjectKey, Arrival<T>>>,
) {
    for Quarantined { item, attempts } in failed {
        match item {
            Item::Key { key, .. } => core.quarantine.put_unappliable(key, attempts.get()),
            Item::Replace { items } => items
                .into_iter()
                .for_each(|(key, _)| core.quarantine.put_unappliable(key, attempts.get())),
            Item::Resync => {}
        }
    }
    core.note_quarantine();
}

/// Until something is received again, such a panic is a failure of the source.
fn panicked<T: Send + Sync + 'static>(
    core: &Core<T>,
    scope: &Scope,
    error: &tokio::task::JoinError,
    task: &str,
) {
    note_panic(core, error, task);
    if error.is_panic() {
        let message = format!("the {task} panicked");
        let failure = Failure::new(FailureKind::Panicked, "Panicked", message);
        core.board.fail(scope, failure);
    }
}

fn note_panic<T: Send + Sync + 'static>(
    core: &Core<T>,
    error: &tokio::task::JoinError,
    task: &str,
) {
    if error.is_panic() {
        tracing::error!(informer = %core.name, task, "a task panicked and is started again");
        core.board.count_task_panic();
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
        core.apply(
            &scope,
            &*leased.items,
            leased.initial,
            leased.applied_after.as_ref(),
            &BTreeSet::new(),
        );
        leased.ack();
        core.publish(&scope, &watcher, None);
        flood::attend(&core);
    }
}

/// Two reflectors must not draw the same delays, or they come back in step (FM-11).
fn seed_of(seed: u64, scope: &Scope) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, scope).hash(&mut hasher);
    hasher.finish()
}
