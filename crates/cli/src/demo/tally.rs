//! What a handler was told, put together again: the state it would believe in.
//!
//! A tally is a handler's whole memory. It trusts nobody: a notification that does not fit what was
//! told before is counted as a contradiction (PR-3), and the calls are counted here and not read
//! from the processor.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use informer_factory::{Added, Notification, ObjectKey, StoreReader, Updated};

use super::cluster::Cluster;
use super::lag::Lags;
use super::object::DemoObject;

/// The memory of one handler.
pub(super) struct Tally<T> {
    cluster: Arc<Cluster>,
    memory: Mutex<Memory<T>>,
}

struct Memory<T> {
    /// What it was told last, by key.
    state: HashMap<ObjectKey, Arc<T>>,
    calls: u64,
    contradictions: u64,
    lags: Lags,
}

impl<T: DemoObject> Tally<T> {
    pub(super) fn new(cluster: Arc<Cluster>) -> Self {
        let memory = Memory {
            state: HashMap::new(),
            calls: 0,
            contradictions: 0,
            lags: Lags::default(),
        };
        Self {
            cluster,
            memory: Mutex::new(memory),
        }
    }

    /// Takes one notification.
    pub(super) fn take(&self, notification: &Notification<ObjectKey, T>) {
        let lag = self.cluster.lag(notification);
        let mut memory = self.lock();
        memory.calls += 1;
        if let Some(lag) = lag {
            memory.lags.add(lag);
        }
        let key = notification.key();
        let fits = match notification {
            Notification::Added(Added { object, .. }) => memory
                .state
                .insert(key.clone(), Arc::clone(object))
                .is_none(),
            Notification::Updated(Updated { old, new, .. }) => {
                let before = memory.state.insert(key.clone(), Arc::clone(new));
                before.is_some_and(|before| before.uid_and_version() == old.uid_and_version())
            }
            Notification::Deleted(_) => memory.state.remove(key).is_some(),
        };
        memory.contradictions += u64::from(!fits);
    }

    /// How often it was called.
    pub(super) fn calls(&self) -> u64 {
        self.lock().calls
    }

    /// How late it was told.
    pub(super) fn lags(&self) -> Lags {
        self.lock().lags.clone()
    }

    /// Whether it believes in exactly what the store holds, and was never contradicted.
    pub(super) fn matches(&self, store: &StoreReader<T>) -> bool {
        let (memory, snapshot) = (self.lock(), store.snapshot());
        let same = snapshot.iter().all(|(key, entry)| {
            let held = memory.state.get(key).map(|held| held.uid_and_version());
            held.is_some_and(|(uid, version)| entry.uid == uid && entry.version == version)
        });
        same && memory.state.len() == snapshot.len() && memory.contradictions == 0
    }

    fn lock(&self) -> MutexGuard<'_, Memory<T>> {
        // Only assignments happen under this lock.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
