//! Where the tasks of one informer write what happens, and everybody reads it.

use std::sync::{Arc, PoisonError};

use informer_reflector::{Failure, ResourceVersion};
use informer_store::Scope;
use metrics::{counter, gauge};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::checker::consistency::{Check, CheckOutcome, ConsistencyStatus};
use crate::error::RuntimeGone;
use crate::status::telemetry;
use crate::status::{InformerState, InformerStatus, SourceStatus};
use crate::sync::{Mutex, MutexGuard};

/// Where the tasks of one informer write what happens, and everybody reads it.
pub(crate) struct Board {
    pub(crate) name: Arc<str>,
    /// What metrics call it.
    pub(crate) label: Arc<str>,
    inner: Mutex<Inner>,
    /// Counts the changes that a readiness probe cares for.
    changed: watch::Sender<u64>,
    /// Woken whenever the applied version of a source may have moved.
    pub(crate) applied: Notify,
}

pub(crate) struct Inner {
    life: Life,
    sources: Vec<SourceStatus>,
    quarantined: usize,
    task_panics: u64,
    synced: bool,
    state: InformerState,
    since: Instant,
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
pub(crate) enum Life {
    Created,
    Running,
    /// Its runtime has ended.
    Gone,
    Stopping,
    Stopped,
}

impl Life {
    /// Whether nothing is followed any more, or will not be soon.
    pub(crate) fn is_over(self) -> bool {
        self > Self::Running
    }
}

impl Board {
    pub(crate) fn new(identity: Identity) -> Self {
        let inner = Inner {
            life: Life::Created,
            sources: Vec::new(),
            quarantined: 0,
            task_panics: 0,
            synced: false,
            state: InformerState::Created,
            since: Instant::now(),
        };
        let (inner, (changed, _)) = (Mutex::new(inner), watch::channel(0));
        Self {
            name: identity.name,
            label: identity.label,
            inner,
            changed,
            applied: Notify::new(),
        }
    }

    /// A receiver that sees every change of phase, failure, sync and life.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(crate) fn life(&self) -> Life {
        self.lock().life
    }

    /// From made to running; false if that has happened already.
    pub(crate) fn begin(&self) -> bool {
        let mut begun = false;
        self.change(|inner| {
            begun = inner.life == Life::Created;
            if begun {
                inner.life = Life::Running;
            }
        });
        begun
    }

    /// Moves the life on; never back.
    pub(crate) fn set_life(&self, life: Life) {
        self.change(|inner| {
            inner.life = inner.life.max(life);
            if matches!(inner.life, Life::Gone | Life::Stopped) {
                // A reflector that was aborted did not report its end.
                for source in &mut inner.sources {
                    source.end();
                }
            }
        });
        self.applied.notify_waiters();
    }

    /// The error of a call that needs a runtime that has ended; `None` while it lives.
    pub(crate) fn gone(&self) -> Option<RuntimeGone> {
        let inner = self.lock();
        (inner.life == Life::Gone).then(|| RuntimeGone {
            informer: Arc::clone(&self.name),
            since: inner.since,
        })
    }

    /// Puts sources onto the board, all at once: with one that is synced before the next is known
    /// the informer would seem to be.
    pub(crate) fn add_sources(&self, sources: &[(Scope, Arc<str>)]) {
        self.change(|inner| {
            for (scope, source) in sources {
                inner.sources.retain(|other| other.scope != *scope);
                inner.sources.push(SourceStatus::new(source, scope));
            }
        });
    }

    /// True if with it the informer became synced: the others had been waiting for this one.
    pub(crate) fn remove_source(&self, scope: &Scope) -> bool {
        let became = self.change(|inner| inner.sources.retain(|source| source.scope != *scope));
        self.applied.notify_waiters();
        became
    }

    /// Notes that a source is synced; true if with it all of them are, for the first time.
    pub(crate) fn set_synced(&self, scope: &Scope) -> bool {
        if self.lock().source(scope).is_none_or(|source| source.synced) {
            return false;
        }
        self.change(|inner| {
            if let Some(source) = inner.source(scope) {
                source.synced = true;
            }
        })
    }

    /// Notes that what is received from now on is of another history (FM-39).
    pub(crate) fn begin_epoch(&self, scope: &Scope) {
        self.change(|inner| {
            if let Some(source) = inner.source(scope) {
                source.epoch += 1;
            }
        });
        self.applied.notify_waiters();
    }

    /// Notes that a source failed in a way that its reflector did not report.
    pub(crate) fn fail(&self, scope: &Scope, failure: Failure) {
        self.change(|inner| {
            if let Some(source) = inner.source(scope) {
                source.attempts = source.attempts.saturating_add(1);
                source.failure = Some(failure);
            }
        });
    }

    /// Notes how far the store is, and how much is still to come.
    pub(crate) fn set_progress(
        &self,
        scope: &Scope,
        applied: Option<ResourceVersion>,
        epoch: u32,
        queued: usize,
    ) {
        if let Some(source) = self.lock().source(scope) {
            source.applied = applied.or_else(|| source.applied.take());
            source.applied_epoch = epoch;
            source.queued = queued;
        }
        self.applied.notify_waiters();
    }

    /// Notes that a source is checked from now on.
    pub(crate) fn begin_checks(&self, scope: &Scope) {
        if let Some(source) = self.lock().source(scope) {
            source.consistency = Some(ConsistencyStatus::default());
        }
    }

    /// Whether nothing is known to be wrong with a source.
    pub(crate) fn follows(&self, scope: &Scope) -> bool {
        let mut inner = self.lock();
        inner
            .source(scope)
            .is_some_and(|source| source.failure.is_none())
    }

    /// Notes what a check came to. Neither state nor sync depend on it.
    pub(crate) fn note_check(&self, scope: &Scope, check: Check, repairs: bool) {
        self.change(|inner| {
            let source = inner.source(scope);
            let Some(status) = source.and_then(|source| source.consistency.as_mut()) else {
                return;
            };
            match &check.outcome {
                CheckOutcome::Consistent(_) => status.consistent += 1,
                CheckOutcome::NotChecked(_) => status.not_checked += 1,
                CheckOutcome::Mismatch(mismatch) => {
                    status.mismatches += 1;
                    status.repairs += u64::from(repairs);
                    status.last_mismatch = Some(mismatch.clone());
                }
            }
            status.last = Some(check);
        });
    }

    pub(crate) fn set_quarantined(&self, count: usize) {
        if self.lock().quarantined != count {
            self.change(|inner| inner.quarantined = count);
        }
        gauge!(telemetry::QUARANTINED, "informer" => Arc::clone(&self.label)).set(count as f64);
    }

    pub(crate) fn set_queue_depth(&self, depth: usize) {
        gauge!(telemetry::QUEUE_DEPTH, "informer" => Arc::clone(&self.label)).set(depth as f64);
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
        self.change(|inner| inner.task_panics += 1);
        counter!(telemetry::TASK_PANICS, "informer" => Arc::clone(&self.label)).increment(1);
    }

    /// True once every source has been synced; never false again.
    pub(crate) fn is_synced(&self) -> bool {
        self.lock().synced
    }

    pub(crate) fn sources(&self) -> Vec<SourceStatus> {
        self.lock().sources.clone()
    }

    /// The status without what others know: the size of the store, and the handlers.
    pub(crate) fn status(&self) -> InformerStatus {
        let inner = self.lock();
        InformerStatus {
            name: Arc::clone(&self.name),
            label: Arc::clone(&self.label),
            state: inner.state,
            since: inner.since,
            sources: inner.sources.clone(),
            objects: 0,
            sequence: 0,
            quarantined: inner.quarantined,
            synced: inner.synced,
            task_panics: inner.task_panics,
            handlers: Vec::new(),
        }
    }

    /// Changes something that somebody may wait for; true if the informer became synced by it.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Inner)) -> bool {
        let became_synced = {
            let mut inner = self.lock();
            change(&mut inner);
            let all = inner.sources.iter().all(|source| source.synced);
            let became_synced = !inner.synced && all && !inner.sources.is_empty();
            inner.synced |= became_synced;
            let state = inner.derive();
            if inner.state != state {
                (inner.state, inner.since) = (state, Instant::now());
            }
            became_synced
        };
        self.changed.send_modify(|count| *count += 1);
        became_synced
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        // Only assignments happen under this lock; a poisoned board is still whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    pub(crate) fn source(&mut self, scope: &Scope) -> Option<&mut SourceStatus> {
        self.sources
            .iter_mut()
            .find(|source| source.scope == *scope)
    }

    fn derive(&self) -> InformerState {
        let failing = self.sources.iter().any(|source| source.failure.is_some());
        match self.life {
            Life::Created => InformerState::Created,
            Life::Gone => InformerState::RuntimeGone,
            Life::Stopping => InformerState::Stopping,
            Life::Stopped => InformerState::Stopped,
            Life::Running if !self.synced => InformerState::Starting,
            Life::Running if failing || self.quarantined > 0 => InformerState::Degraded,
            Life::Running => InformerState::Synced,
        }
    }
}
