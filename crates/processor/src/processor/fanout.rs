//! Who gets what: the list of listeners, and one pass over it per batch.
//!
//! The list is copied when it changes and read without a lock while it is walked, so that adding
//! and removing never wait for a distribution, nor it for them. Nobody waits for a handler.
//!
//! - PR-9: a listener that blocks delays neither the sender nor another one. `tests/isolation.rs`
//! - PR-10: a resync goes to those who are due and to nobody else. `tests/resync.rs`
//! - FM-68: add, remove and stop in any order end. `tests/orders.rs`

use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::backlog::batch::Batch;
use crate::error::AddError;
use crate::key::Key;
use crate::listener::config::ListenerConfig;
use crate::listener::resync::negotiate;
use crate::listener::state::ListenerState;
use crate::listener::status::ListenerId;
use crate::listener::walk::Walk;
use crate::listener::{ConsumerKind, Listener, Roster};
use crate::notification::Notification;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, MutexGuard, now};

type Listeners<K, T> = Arc<Vec<Arc<Listener<K, T>>>>;

struct Registry<K: Key, T: Send + Sync + 'static> {
    listeners: Listeners<K, T>,
    /// Removed, and not ended yet: a stop waits for their callbacks too.
    leaving: Vec<Arc<Listener<K, T>>>,
    next_id: u64,
    check_period: Option<Duration>,
    upstream_synced: bool,
    stopped: bool,
}

/// What all handles of a processor share.
pub(crate) struct Shared<K: Key, T: Send + Sync + 'static> {
    number: u64,
    epoch: Instant,
    registry: Mutex<Registry<K, T>>,
    started: AtomicBool,
    weak: Weak<Self>,
}

/// Tells processors apart, for callbacks of one that use another.
static NEXT_NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

impl<K: Key, T: Send + Sync + 'static> Shared<K, T> {
    pub(crate) fn new(check_period: Option<Duration>) -> Arc<Self> {
        Arc::new_cyclic(|weak| Self {
            number: NEXT_NUMBER.fetch_add(1, Ordering::Relaxed),
            epoch: now(),
            registry: Mutex::new(Registry {
                listeners: Arc::default(),
                leaving: Vec::new(),
                next_id: 0,
                check_period: check_period.filter(|period| !period.is_zero()),
                upstream_synced: false,
                stopped: false,
            }),
            started: AtomicBool::new(false),
            weak: Weak::clone(weak),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Registry<K, T>> {
        // Nothing under this lock panics half-way: each change is one assignment.
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn listeners(&self) -> Listeners<K, T> {
        Arc::clone(&self.lock().listeners)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    pub(crate) fn check_period(&self) -> Option<Duration> {
        self.lock().check_period
    }

    /// From here on the check period is settled (SI-16).
    pub(crate) fn start(&self) {
        self.started.store(true, Ordering::Release);
    }

    /// Puts a new listener on the list; it holds what happens from here on.
    pub(crate) fn register(
        &self,
        config: ListenerConfig,
        handler: &str,
        kind: ConsumerKind,
    ) -> Result<Arc<Listener<K, T>>, AddError> {
        let name = match config.name.is_empty() {
            true => Arc::from(handler),
            false => config.name,
        };
        let now = now();
        let mut registry = self.lock();
        if registry.stopped {
            return Err(AddError::Stopped);
        }
        let started = self.started.load(Ordering::Acquire);
        let agreement = negotiate(config.resync, registry.check_period, started);
        registry.check_period = agreement.check_period;
        let mut state = ListenerState::new(config.overflow, agreement.terms, now);
        if registry.upstream_synced {
            state.upstream_synced();
        }
        let id = ListenerId(registry.next_id);
        registry.next_id += 1;
        let identity = (id, (self.number, id), name);
        let listener = Arc::new(Listener::new(
            identity,
            kind,
            state,
            self.epoch,
            Weak::clone(&self.weak) as Weak<dyn Roster>,
        ));
        if planted!(ListIsWrittenBack) {
            let mut list = Vec::clone(&registry.listeners);
            drop(registry);
            list.push(Arc::clone(&listener));
            self.lock().listeners = Arc::new(list);
            return Ok(listener);
        }
        Arc::make_mut(&mut registry.listeners).push(Arc::clone(&listener));
        Ok(listener)
    }

    /// Those who were removed and have not ended.
    pub(crate) fn leaving(&self) -> Vec<Arc<Listener<K, T>>> {
        self.lock().leaving.clone()
    }

    /// Hands a batch to every listener.
    pub(crate) fn distribute(&self, sequence: u64, batch: &[Arc<Notification<K, T>>]) {
        if batch.is_empty() {
            return;
        }
        self.start();
        let since = self.nanos(now());
        let listeners = self.listeners();
        if listeners.is_empty() {
            return;
        }
        let batches = Batch::split(batch);
        let mut displaced = Vec::new();
        for listener in listeners.iter() {
            listener.push((sequence, batches.as_slice()), since, &mut displaced);
            // Outside the listener's lock: drops may run user code.
            displaced.clear();
        }
    }

    /// Hands a resync, as one entry, to every listener that is due and has none.
    pub(crate) fn distribute_resync(
        &self,
        sequence: u64,
        now: Instant,
        walk: impl Fn() -> Walk<K, T>,
    ) {
        self.start();
        let since = self.nanos(now);
        for listener in self.listeners().iter() {
            if listener.with(|state| state.wants_resync(sequence, now)) {
                let walk = walk();
                // Given back if the listener was removed meanwhile; dropped outside its lock.
                drop(listener.with(|state| state.push_resync(walk, since)));
            }
        }
    }

    /// Every initial notification has been handed over, for those who join later too.
    pub(crate) fn upstream_synced(&self) {
        let early = planted!(SyncReadsTheListFirst).then(|| self.listeners());
        let mut registry = self.lock();
        registry.upstream_synced = true;
        let listeners = early.unwrap_or_else(|| Arc::clone(&registry.listeners));
        drop(registry);
        for listener in listeners.iter() {
            listener.with(ListenerState::upstream_synced);
        }
    }

    /// Adds nobody and hands out nothing from here on; what waits is delivered.
    pub(crate) fn close(&self) -> Listeners<K, T> {
        let early = planted!(StopReadsTheListFirst).then(|| self.listeners());
        let mut registry = self.lock();
        registry.stopped = true;
        let listeners = early.unwrap_or_else(|| Arc::clone(&registry.listeners));
        drop(registry);
        for listener in listeners.iter() {
            listener.drain();
        }
        listeners
    }

    fn nanos(&self, at: Instant) -> u64 {
        let nanos = at.saturating_duration_since(self.epoch).as_nanos();
        u64::try_from(nanos).unwrap_or(u64::MAX - 1)
    }
}

impl<K: Key, T: Send + Sync + 'static> Roster for Shared<K, T> {
    fn forget(&self, id: ListenerId) {
        let mut registry = self.lock();
        let forgotten = registry
            .listeners
            .iter()
            .position(|listener| listener.id() == id)
            .map(|at| Arc::make_mut(&mut registry.listeners).remove(at));
        let leaving = forgotten.iter().filter(|listener| listener.is_leaving());
        registry.leaving.extend(leaving.cloned());
        drop(registry);
        // Outside the lock: the last reference to a listener may free much.
        drop(forgotten);
    }

    fn left(&self, id: ListenerId) {
        let mut registry = self.lock();
        let at = registry
            .leaving
            .iter()
            .position(|listener| listener.id() == id);
        let left = at.map(|at| registry.leaving.swap_remove(at));
        drop(registry);
        drop(left);
    }
}

impl<K: Key, T: Send + Sync + 'static> Drop for Shared<K, T> {
    fn drop(&mut self) {
        // The last handle is gone without a stop: no callback starts any more (IN-6).
        let registry = self
            .registry
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for listener in registry.listeners.iter() {
            listener.close();
            listener.abort();
        }
    }
}
