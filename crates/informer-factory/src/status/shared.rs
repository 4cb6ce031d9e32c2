//! The status of one informer, which its tasks write and its handles read.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use futures::stream::{self, Stream};
use informer_reflector::{Failure, ResourceVersion};
use informer_store::Scope;
use metrics::{counter, gauge};
use tokio::sync::{Notify, watch};

use crate::checker::consistency::{Check, ConsistencyStatus};
use crate::error::{AlreadyStopped, NotRunning, RuntimeGone};
use crate::status::memory::MemoryStatus;
use crate::status::telemetry;
use crate::status::{InformerState, InformerStatus, SourceStatus};
use crate::sync::{Mutex, MutexGuard, now};

/// The status of one informer, which its tasks write and its handles read.
pub(crate) struct SharedStatus {
    pub(crate) name: Arc<str>,
    /// The informer's name in metrics.
    pub(crate) label: Arc<str>,
    inner: Mutex<Inner>,
    /// Counts the changes of phase, failure, sync and lifecycle.
    pub(crate) changed: watch::Sender<u64>,
    /// Notified whenever the applied version of a source may have moved.
    pub(crate) applied: Notify,
}

struct Inner {
    lifecycle: Lifecycle,
    /// When the informer was started; before that, when it was made.
    started: Instant,
    /// Without the size of the store and without the handlers.
    status: InformerStatus,
}

/// The names of an informer.
pub(crate) struct Identity {
    /// In status and logs: the label, and what restricts the informer: `pods#1c9d03f7 [in web]`.
    pub(crate) name: Arc<str>,
    /// In metrics.
    pub(crate) label: Arc<str>,
}

impl Identity {
    /// One name for both.
    pub(crate) fn named(name: Arc<str>) -> Self {
        Self {
            label: Arc::clone(&name),
            name,
        }
    }
}

/// The part of the state that does not depend on the server, in the order in which it moves.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lifecycle {
    Created,
    Running,
    /// Its runtime has ended.
    Gone,
    Stopping,
    Stopped,
}

impl Lifecycle {
    /// Whether the informer has stopped watching, or is stopping.
    pub(crate) fn is_over(self) -> bool {
        self > Self::Running
    }
}

impl SharedStatus {
    pub(crate) fn new(Identity { name, label }: Identity) -> Self {
        let status = InformerStatus {
            name: Arc::clone(&name),
            label: Arc::clone(&label),
            state: InformerState::Created,
            since: now(),
            sources: Vec::new(),
            objects: 0,
            sequence: 0,
            memory: MemoryStatus::default(),
            quarantined: 0,
            synced: false,
            task_panics: 0,
            handlers: Vec::new(),
        };
        let lifecycle = Lifecycle::Created;
        Self {
            name,
            label,
            inner: Mutex::new(Inner {
                lifecycle,
                started: status.since,
                status,
            }),
            changed: watch::channel(0).0,
            applied: Notify::new(),
        }
    }

    /// An item now, and again after every such change, until the informer has ended.
    pub(crate) fn changes(self: Arc<Self>) -> impl Stream<Item = ()> + Send {
        let changes = self.changed.subscribe();
        stream::unfold(Some((self, changes, true)), |state| async {
            let (status, mut changes, first) = state?;
            if !first && changes.changed().await.is_err() {
                return None;
            }
            changes.mark_unchanged();
            let ended = matches!(status.lifecycle(), Lifecycle::Gone | Lifecycle::Stopped);
            Some(((), (!ended).then_some((status, changes, false))))
        })
    }

    pub(crate) fn lifecycle(&self) -> Lifecycle {
        self.lock().lifecycle
    }

    /// Whether the informer is stopping or stopped.
    pub(crate) fn has_ended(&self) -> bool {
        self.lifecycle() >= Lifecycle::Stopping
    }

    /// Moves from `Created` to `Running`; false if that has happened already.
    pub(crate) fn begin(&self) -> bool {
        let mut begun = false;
        self.change(|inner| {
            begun = inner.lifecycle == Lifecycle::Created;
            if begun {
                (inner.lifecycle, inner.started) = (Lifecycle::Running, now());
            }
        });
        if begun {
            self.publish_synced(0.0, Duration::ZERO);
        }
        begun
    }

    /// Moves to a later state; never back.
    pub(crate) fn set_lifecycle(&self, lifecycle: Lifecycle) {
        self.change(|inner| {
            inner.lifecycle = inner.lifecycle.max(lifecycle);
            if matches!(inner.lifecycle, Lifecycle::Gone | Lifecycle::Stopped) {
                // A reflector that was aborted did not report its end.
                inner.status.sources.iter_mut().for_each(SourceStatus::end);
            }
        });
        self.applied.notify_waiters();
    }

    /// Refuses a call on an informer whose runtime has ended.
    pub(crate) fn refuse_if_gone(&self) -> Result<(), RuntimeGone> {
        let inner = self.lock();
        if inner.lifecycle != Lifecycle::Gone {
            return Ok(());
        }
        let (informer, since) = (Arc::clone(&self.name), inner.status.since);
        Err(RuntimeGone { informer, since })
    }

    /// Refuses a call on an informer that has ended or whose runtime has ended.
    pub(crate) fn refuse_if_over<E>(&self) -> Result<(), E>
    where
        E: From<RuntimeGone> + From<AlreadyStopped>,
    {
        self.refuse_if_gone()?;
        if self.has_ended() {
            let what = Arc::clone(&self.name);
            return Err(AlreadyStopped { what }.into());
        }
        Ok(())
    }

    /// Refuses a call on an informer that is not running.
    pub(crate) fn refuse_unless_running<E>(&self) -> Result<(), E>
    where
        E: From<RuntimeGone> + From<NotRunning>,
    {
        self.refuse_if_gone()?;
        let inner = self.lock();
        let (informer, state) = (Arc::clone(&self.name), inner.status.state);
        match inner.lifecycle {
            Lifecycle::Running => Ok(()),
            _ => Err(NotRunning { informer, state }.into()),
        }
    }

    /// Adds sources atomically: with a source that is synced before the next one is added the
    /// informer would seem to be synced.
    pub(crate) fn add_sources(&self, sources: &[(Scope, Arc<str>)]) {
        self.change(|inner| {
            for (scope, source) in sources {
                inner.status.sources.retain(|other| other.scope != *scope);
                inner.status.sources.push(SourceStatus::new(source, scope));
            }
        });
    }

    /// Returns true if the informer became synced by it: the other sources are synced.
    pub(crate) fn remove_source(&self, scope: &Scope) -> bool {
        let became =
            self.change(|inner| inner.status.sources.retain(|source| source.scope != *scope));
        self.applied.notify_waiters();
        became
    }

    /// Records that a source is synced; true if all of them are now, for the first time.
    pub(crate) fn set_synced(&self, scope: &Scope) -> bool {
        let is_news = self.with(scope, |source| !source.synced) == Some(true);
        is_news && self.update(scope, |source| source.synced = true)
    }

    /// The epoch of what is received from a source.
    pub(crate) fn epoch(&self, scope: &Scope) -> u32 {
        self.with(scope, |source| source.epoch).unwrap_or(0)
    }

    /// Records that what is received from now on is of another history, and returns its epoch.
    // FM-39. Before anything of it is queued, so that the applied epoch is never ahead.
    pub(crate) fn begin_epoch(&self, scope: &Scope) -> u32 {
        self.update(scope, |source| source.epoch += 1);
        self.applied.notify_waiters();
        self.epoch(scope)
    }

    /// Records a failure of a source that its reflector did not report.
    pub(crate) fn fail(&self, scope: &Scope, failure: Failure) {
        self.update(scope, |source| {
            source.attempts = source.attempts.saturating_add(1);
            source.failure = Some(failure);
        });
    }

    /// Records how far the store is, and the number of queued changes.
    pub(crate) fn set_progress(
        &self,
        scope: &Scope,
        applied: Option<ResourceVersion>,
        epoch: u32,
        queued: usize,
    ) {
        self.with(scope, |source| {
            source.applied = applied.or_else(|| source.applied.take());
            source.applied_epoch = epoch;
            source.queued = queued;
        });
        self.applied.notify_waiters();
    }

    /// Records that a source is checked from now on.
    pub(crate) fn begin_checks(&self, scope: &Scope) {
        self.with(scope, |source| {
            source.consistency = Some(ConsistencyStatus::default());
        });
    }

    /// Whether a source has no failure.
    pub(crate) fn follows(&self, scope: &Scope) -> bool {
        self.with(scope, |source| source.failure.is_none()) == Some(true)
    }

    /// Records the outcome of a check. Neither state nor sync depend on it.
    pub(crate) fn note_check(&self, scope: &Scope, check: Check, repairs: bool) {
        self.update(scope, |source| {
            if let Some(status) = &mut source.consistency {
                status.note(check, repairs);
            }
        });
    }

    pub(crate) fn set_quarantined(&self, count: usize) {
        if self.lock().status.quarantined != count {
            self.change(|inner| inner.status.quarantined = count);
        }
        gauge!(telemetry::QUARANTINED, "informer" => Arc::clone(&self.label)).set(count as f64);
    }

    pub(crate) fn set_queued_items(&self, count: usize) {
        gauge!(telemetry::QUEUED_ITEMS, "informer" => Arc::clone(&self.label)).set(count as f64);
    }

    /// Counts what one commit applied and dropped; `objects` is the size of the store after it.
    pub(crate) fn count_events(&self, applied: u64, dropped: u64, objects: usize) {
        let label = || Arc::clone(&self.label);
        if applied > 0 {
            counter!(telemetry::EVENTS_APPLIED, "informer" => label()).increment(applied);
        }
        if dropped > 0 {
            counter!(telemetry::EVENTS_DROPPED, "informer" => label()).increment(dropped);
        }
        gauge!(telemetry::STORE_OBJECTS, "informer" => label()).set(objects as f64);
    }

    pub(crate) fn count_task_panic(&self) {
        self.change(|inner| inner.status.task_panics += 1);
        counter!(telemetry::TASK_PANICS, "informer" => Arc::clone(&self.label)).increment(1);
    }

    /// True once every source has been synced; never false again.
    pub(crate) fn is_synced(&self) -> bool {
        self.lock().status.synced
    }

    pub(crate) fn sources(&self) -> Vec<SourceStatus> {
        self.lock().status.sources.clone()
    }

    /// The status without the size of the store and without the handlers.
    pub(crate) fn snapshot(&self) -> InformerStatus {
        self.lock().status.clone()
    }

    /// Reads or changes the status of one source, and notifies no subscriber.
    pub(crate) fn with<R>(
        &self,
        scope: &Scope,
        f: impl FnOnce(&mut SourceStatus) -> R,
    ) -> Option<R> {
        self.lock().source(scope).map(f)
    }

    /// Changes the status of one source, as [`change`](Self::change).
    pub(crate) fn update(&self, scope: &Scope, change: impl FnOnce(&mut SourceStatus)) -> bool {
        self.change(|inner| {
            if let Some(source) = inner.source(scope) {
                change(source);
            }
        })
    }

    /// Changes something that a reader may wait for; true if the informer became synced by it.
    fn change(&self, change: impl FnOnce(&mut Inner)) -> bool {
        let (became_synced, started) = {
            let mut inner = self.lock();
            change(&mut inner);
            let state = &mut inner.status;
            let all = state.sources.iter().all(|source| source.synced);
            let became_synced = !state.synced && all && !state.sources.is_empty();
            state.synced |= became_synced;
            let state = inner.derive();
            if inner.status.state != state {
                (inner.status.state, inner.status.since) = (state, now());
            }
            (became_synced, inner.started)
        };
        if became_synced {
            self.publish_synced(1.0, now().saturating_duration_since(started));
        }
        self.changed.send_modify(|count| *count += 1);
        became_synced
    }

    /// Publishes whether the informer is synced, and how long it took.
    fn publish_synced(&self, synced: f64, took: Duration) {
        let label = || Arc::clone(&self.label);
        gauge!(telemetry::SYNCED, "informer" => label()).set(synced);
        gauge!(telemetry::SYNC_SECONDS, "informer" => label()).set(took.as_secs_f64());
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Only assignments happen under this lock; a poisoned status is still whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn source(&mut self, scope: &Scope) -> Option<&mut SourceStatus> {
        self.status
            .sources
            .iter_mut()
            .find(|source| source.scope == *scope)
    }

    fn derive(&self) -> InformerState {
        let status = &self.status;
        let failing = status.sources.iter().any(|source| source.failure.is_some());
        match self.lifecycle {
            Lifecycle::Created => InformerState::Created,
            Lifecycle::Gone => InformerState::RuntimeGone,
            Lifecycle::Stopping => InformerState::Stopping,
            Lifecycle::Stopped => InformerState::Stopped,
            Lifecycle::Running if !status.synced => InformerState::Starting,
            Lifecycle::Running if failing || status.quarantined > 0 => InformerState::Degraded,
            Lifecycle::Running => InformerState::Synced,
        }
    }
}
