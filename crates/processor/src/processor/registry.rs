//! The list of listeners of one processor.
//!
//! The list is copied when it changes and read without a lock. Adding and removing therefore never
//! wait for a distribution, and a distribution never waits for them.

// - FM-68: add, remove and stop in any order end. `tests/orders.rs`

use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::error::AddError;
use crate::listener::config::ListenerConfig;
use crate::listener::resync::negotiate;
use crate::listener::state::ListenerState;
use crate::listener::status::ListenerId;
use crate::listener::{ConsumerKind, Listener, Roster};
use crate::notification::Key;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, MutexGuard, now};

type Listeners<K, T> = Arc<Vec<Arc<Listener<K, T>>>>;

pub(crate) struct List<K: Key, T: Send + Sync + 'static> {
    listeners: Listeners<K, T>,
    /// The listeners that were removed and have not ended: a stop waits for their callbacks too.
    pub(crate) leaving: Vec<Arc<Listener<K, T>>>,
    next_id: u64,
    pub(crate) check_period: Option<Duration>,
    upstream_synced: bool,
    pub(crate) stopped: bool,
}

/// The state that all handles of a processor share.
pub(crate) struct Registry<K: Key, T: Send + Sync + 'static> {
    pub(crate) number: u64,
    pub(crate) epoch: Instant,
    list: Mutex<List<K, T>>,
    started: AtomicBool,
    weak: Weak<Self>,
}

/// Tells processors apart, for a callback of one that uses another.
static NEXT_NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

impl<K: Key, T: Send + Sync + 'static> Registry<K, T> {
    pub(crate) fn new(check_period: Option<Duration>) -> Arc<Self> {
        Arc::new_cyclic(|weak| Self {
            number: NEXT_NUMBER.fetch_add(1, Ordering::Relaxed),
            epoch: now(),
            list: Mutex::new(List {
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

    pub(crate) fn lock(&self) -> MutexGuard<'_, List<K, T>> {
        // No code under this lock panics between two assignments.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn listeners(&self) -> Listeners<K, T> {
        Arc::clone(&self.lock().listeners)
    }

    /// Fixes the check period.
    // SI-16.
    pub(crate) fn start(&self) {
        self.started.store(true, Ordering::Release);
    }

    /// Adds a listener, which buffers notifications from here on.
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
        let mut list = self.lock();
        if list.stopped {
            return Err(AddError::Stopped);
        }
        let started = self.started.load(Ordering::Acquire);
        let agreement = negotiate(config.resync, list.check_period, started);
        list.check_period = agreement.check_period;
        let mut state = ListenerState::new(config.overflow, agreement.terms, now);
        if list.upstream_synced {
            state.tracker.upstream_synced();
        }
        let caller = (self.number, ListenerId(list.next_id));
        list.next_id += 1;
        let roster = Weak::clone(&self.weak) as Weak<dyn Roster>;
        let listener = Arc::new(Listener::new(caller, name, kind, state, self.epoch, roster));
        if planted!(ListIsWrittenBack) {
            let mut written_back = Vec::clone(&list.listeners);
            drop(list);
            written_back.push(Arc::clone(&listener));
            self.lock().listeners = Arc::new(written_back);
            return Ok(listener);
        }
        Arc::make_mut(&mut list.listeners).push(Arc::clone(&listener));
        Ok(listener)
    }

    /// Marks all listeners, present and future, as complete with the initial notifications.
    pub(crate) fn upstream_synced(&self) {
        let early = planted!(SyncReadsTheListFirst).then(|| self.listeners());
        for listener in self.mark(early, |list| list.upstream_synced = true).iter() {
            listener.with(|state| state.tracker.upstream_synced());
        }
    }

    /// Refuses new listeners and lets the present ones deliver what is pending.
    pub(crate) fn close(&self) -> Listeners<K, T> {
        let early = planted!(StopReadsTheListFirst).then(|| self.listeners());
        let listeners = self.mark(early, |list| list.stopped = true);
        for listener in listeners.iter() {
            listener.drain();
        }
        listeners
    }

    /// Changes the list and returns the listeners at that moment, or those that a planted bug read
    /// before.
    fn mark(
        &self,
        early: Option<Listeners<K, T>>,
        mark: impl FnOnce(&mut List<K, T>),
    ) -> Listeners<K, T> {
        let mut list = self.lock();
        mark(&mut list);
        early.unwrap_or_else(|| Arc::clone(&list.listeners))
    }
}

impl<K: Key, T: Send + Sync + 'static> Roster for Registry<K, T> {
    fn forget(&self, id: ListenerId) {
        let mut list = self.lock();
        let at = list.listeners.iter().position(|entry| entry.id() == id);
        let forgotten = at.map(|at| Arc::make_mut(&mut list.listeners).remove(at));
        let leaving = forgotten.iter().filter(|listener| listener.is_leaving());
        list.leaving.extend(leaving.cloned());
        drop(list);
        // Outside the lock: the last reference to a listener may free much.
        drop(forgotten);
    }

    fn left(&self, id: ListenerId) {
        let mut list = self.lock();
        let at = list.leaving.iter().position(|entry| entry.id() == id);
        let left = at.map(|at| list.leaving.swap_remove(at));
        drop(list);
        drop(left);
    }
}

impl<K: Key, T: Send + Sync + 'static> Drop for Registry<K, T> {
    fn drop(&mut self) {
        // IN-6: the last handle is dropped without a stop, and no callback starts any more.
        let list = self.list.get_mut().unwrap_or_else(PoisonError::into_inner);
        for listener in list.listeners.iter() {
            listener.close();
            listener.abort();
        }
    }
}
