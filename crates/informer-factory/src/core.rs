//! What the tasks and the handles of one informer share.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use informer_deltafifo::Item;
use informer_processor::{Joining, Notification, Processor, Registration, StopReport, Walk};
use informer_reflector::{Config, ResourceVersion};
use informer_store::{Index, IndexError, ObjectKey, Scope, Snapshot, StoreReader};
use metrics::{counter, gauge};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::applying::Applier;
use crate::arrival::Arrival;
use crate::board::{Board, Life};
use crate::checker::Checking;
use crate::epochs::Epochs;
use crate::launch::Launch;
use crate::options::QueueKind;
use crate::probe::Probes;
use crate::quarantine::Quarantine;
use crate::sharing_key::Identity;
use crate::sources::Sources;
use crate::sync::{Mutex, MutexGuard};
use crate::telemetry;

/// How the parts of one informer are set up; fixed when it is made.
pub(crate) struct Settings {
    pub(crate) queue: QueueKind,
    pub(crate) queue_bound: NonZeroUsize,
    pub(crate) attempts: NonZeroU32,
    /// How many values one object may give one index (SEC-24).
    pub(crate) index_values: NonZeroUsize,
    /// How many quarantined keys are kept with their reasons (SEC-23).
    pub(crate) quarantined: NonZeroUsize,
    pub(crate) reflector: Config,
    pub(crate) default_resync: Option<Duration>,
    pub(crate) seed: u64,
    /// How the store is compared with the server, where that was asked for (FM-40).
    pub(crate) checking: Option<Checking>,
}

/// Looks at the queue of one source.
pub(crate) type Watcher<T> =
    informer_deltafifo::ProgressObserver<ObjectKey, Arrival<T>, ResourceVersion>;

pub(crate) struct Core<T: Send + Sync + 'static> {
    pub(crate) name: Arc<str>,
    pub(crate) settings: Settings,
    pub(crate) launch: Box<dyn Launch<T>>,
    pub(crate) reader: StoreReader<T>,
    pub(crate) processor: Processor<ObjectKey, T>,
    pub(crate) board: Arc<Board>,
    pub(crate) quarantine: Quarantine,
    pub(crate) sources: Sources,
    /// Cancelled when the informer is to end.
    pub(crate) stop: CancellationToken,
    /// Every task of the informer, so that its end can be waited for (IN-5).
    pub(crate) tasks: TaskTracker,
    /// Where the tasks run; set at the start.
    runtime: OnceLock<Handle>,
    /// Woken when a handler with a resync period of its own has joined or left.
    pub(crate) resync_changed: Notify,
    /// Woken when the backlogs of handlers may have changed.
    pub(crate) backlogs_changed: Notify,
    /// Finds the objects on which an index function panics.
    pub(crate) probes: Probes<T>,
    applier: Mutex<Applier<T>>,
    /// See [`Core::turn`].
    turn: Mutex<()>,
}

impl<T: Send + Sync + 'static> Core<T> {
    pub(crate) fn new(
        identity: Identity,
        settings: Settings,
        launch: Box<dyn Launch<T>>,
        processor: Processor<ObjectKey, T>,
    ) -> Self {
        let (writer, reader) = informer_store::store();
        let quarantine = Quarantine::new(settings.quarantined);
        Self {
            name: Arc::clone(&identity.name),
            board: Arc::new(Board::new(identity)),
            settings,
            launch,
            reader,
            processor,
            quarantine,
            sources: Sources::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            runtime: OnceLock::new(),
            resync_changed: Notify::new(),
            backlogs_changed: Notify::new(),
            probes: Probes::default(),
            applier: Mutex::new(Applier {
                writer,
                epochs: HashMap::new(),
            }),
            turn: Mutex::new(()),
        }
    }

    /// Held while tasks are begun, and while it is said that none begins any more: whoever ends the
    /// informer then knows of all there are (IN-5).
    pub(crate) fn turn(&self) -> MutexGuard<'_, ()> {
        // It guards nothing that a panic could leave half-done.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fixes the runtime of all tasks that handles of the informer begin.
    pub(crate) fn run_on(&self, runtime: Handle) {
        // Ignored: an informer is started once.
        drop(self.runtime.set(runtime));
    }

    /// Where the tasks run; `None` before the start.
    pub(crate) fn runtime(&self) -> Option<&Handle> {
        self.runtime.get()
    }

    /// Begins a task on the informer's runtime, whatever runtime the caller is on. Only after the
    /// start.
    pub(crate) fn spawn<F>(&self, task: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let runtime = self.runtime.get().expect("a task begins after the start");
        self.tasks.spawn_on(task, runtime)
    }

    /// The runtime has ended, and with it all tasks: nothing is followed any more. What handlers on
    /// other runtimes and threads have not received yet is still delivered.
    pub(crate) fn runtime_ended(&self) {
        self.board.set_life(Life::Gone);
        self.stop.cancel();
        self.processor.close();
    }

    /// Lets nothing begin from here on, and tells what runs to end.
    pub(crate) fn say_stop(&self) {
        let turn = (!planted!(EndTakesNoTurn)).then(|| self.turn());
        self.board.set_life(Life::Stopping);
        self.stop.cancel();
        drop(turn);
    }

    /// Tells how far the store is now, and that it is synced, after the effect is visible (C3).
    ///
    /// Also where nothing was applied: a bookmark moves the version without a change, and an empty
    /// collection is synced without one.
    ///
    /// Who knows that everything received has been applied says which epoch that was.
    pub(crate) fn publish(&self, scope: &Scope, queue: &Watcher<T>, epoch: Option<u32>) {
        // Read under the lock, so that of two who publish at once the later one knows more.
        let mut applier = self.lock();
        let epochs = applier.epochs.entry(scope.clone()).or_default();
        epochs.advance(epoch.unwrap_or(0));
        let epoch = epochs.store();
        let mut progress = queue.progress();
        if planted!(ReceivedIsApplied) {
            progress.applied = progress.received;
        }
        if let Some(version) = &progress.applied
            && applier.writer.version(scope).map(|version| &**version) != Some(version.as_str())
        {
            let mut batch = informer_store::Batch::new();
            batch.mark(scope.clone(), version.to_shared());
            applier.writer.commit(batch);
        }
        self.board
            .set_progress(scope, progress.applied, epoch, progress.unsettled);
        drop(applier);
        if progress.synced && self.board.set_synced(scope) {
            self.processor.upstream_synced();
        }
        self.set_queue_depth(progress.unsettled);
    }

    /// Removes everything a source brought, with a tombstone for each object (FM-79).
    pub(crate) fn clear(&self, scope: &Scope) {
        let nothing = Item::Replace { items: Vec::new() };
        self.apply(scope, [&nothing], false, None, &BTreeSet::new());
        let mut batch = informer_store::Batch::new();
        batch.unmark(scope.clone());
        let mut applier = self.lock();
        applier.writer.commit(batch);
        applier.epochs.remove(scope);
        drop(applier);
        self.quarantine.retain(|key| !scope.covers(key));
        self.note_quarantine();
    }

    /// Adds an index and, before the next commit, the probe for it (IX-10). Objects that give it
    /// too many values are not in it, and are quarantined.
    pub(crate) fn add_index<F, I, V>(
        &self,
        name: Arc<str>,
        values: F,
    ) -> Result<Index<T>, IndexError>
    where
        F: Fn(&T) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = V>,
        V: Into<Arc<str>>,
    {
        let most = self.settings.index_values;
        let values = Arc::new(values);
        let probe = Arc::clone(&values);
        let mut applier = self.lock();
        let (index, above_bound) =
            applier
                .writer
                .add_index_bounded(name, most, move |object: &T| values(object))?;
        self.probes.add(move |object| {
            let values = probe(object).into_iter().take(most.get());
            values.for_each(|value| drop::<Arc<str>>(value.into()));
        });
        for key in above_bound {
            self.refuse_values(&key);
        }
        self.note_quarantine();
        drop(applier);
        Ok(index)
    }

    /// The store as exactly what one source received up to a version, if it is so at this moment:
    /// the first collection is applied, and nothing waits (design 6.5).
    pub(crate) fn exact_snapshot(
        &self,
        queue: &Watcher<T>,
    ) -> Option<(Snapshot<T>, ResourceVersion)> {
        // No commit of what is leased meanwhile can come between, since it needs this lock.
        let _applier = self.lock();
        let progress = queue.progress();
        let applied = progress.applied.filter(ResourceVersion::is_exact)?;
        (progress.synced && progress.unsettled == 0).then(|| (self.reader.snapshot(), applied))
    }

    /// The epoch of what the store holds of a source.
    pub(crate) fn epoch(&self, scope: &Scope) -> u32 {
        self.lock().epochs.get(scope).map_or(0, Epochs::store)
    }

    /// Lets a registered listener begin: everything there is, then every commit after it (design
    /// 6.12). The writer does not pause for it.
    pub(crate) fn join(&self, joining: Joining<ObjectKey, T>) -> Registration {
        let snapshot = self.reader.snapshot();
        let sequence = snapshot.sequence();
        let present = snapshot.cursor().filter(|_| !planted!(JoinMissesPresent));
        let present = present.map(|(key, entry)| Notification::Added {
            key,
            object: entry.object,
            initial: true,
        });
        let registration = joining.begin(sequence, Walk::new(present));
        self.resync_changed.notify_one();
        self.backlogs_changed.notify_one();
        registration
    }

    /// Hands one resync to every listener that is due, between two commits (design 6.9).
    pub(crate) fn resync(&self, now: std::time::Instant) {
        let applier = self.lock();
        let snapshot = self.reader.snapshot();
        self.processor
            .distribute_resync(snapshot.sequence(), now, || {
                crate::resync::walk(snapshot.clone(), self.reader.clone())
            });
        drop(applier);
    }

    /// Ends everything immediately: no task goes on, no callback begins (IN-6). Returns what the
    /// handlers were given, and what not.
    pub(crate) fn abort(&self) -> StopReport {
        self.say_stop();
        self.sources.abort();
        let handlers = self.processor.stop(Duration::ZERO).now_or_never();
        self.board.set_life(Life::Stopped);
        handlers.expect("without a grace there is nothing to wait for")
    }

    /// Makes all gauges exist, before there is anything to tell.
    pub(crate) fn begin_metrics(&self) {
        self.count(0, 0);
        self.note_quarantine();
        self.set_queue_depth(0);
        self.backlogs_changed.notify_one();
    }

    fn set_queue_depth(&self, depth: usize) {
        gauge!(telemetry::QUEUE_DEPTH, "informer" => Arc::clone(&self.board.label))
            .set(depth as f64);
    }

    pub(crate) fn count(&self, applied: u64, dropped: u64) {
        let name = || Arc::clone(&self.board.label);
        if applied > 0 {
            counter!(telemetry::EVENTS_APPLIED, "informer" => name()).increment(applied);
        }
        if dropped > 0 {
            counter!(telemetry::EVENTS_DROPPED, "informer" => name()).increment(dropped);
        }
        gauge!(telemetry::STORE_OBJECTS, "informer" => name()).set(self.reader.len() as f64);
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Applier<T>> {
        // A panicking index function leaves the store as it was (STX-10), so the lock's poison
        // tells nothing.
        self.applier.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
