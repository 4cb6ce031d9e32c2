//! Lets the source find an unchanged object in the store instead of decoding it again.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use informer_object::Identity;
use informer_reflector::Reuse;
use informer_store::{Scope, StoreReader};

use crate::applying::source_entries;

/// Finds objects by key, uid and version.
pub(crate) struct StoreReuse<T> {
    reader: StoreReader<T>,
    scope: Scope,
    state: Arc<FoundState>,
}

impl<T> StoreReuse<T> {
    pub(crate) fn new(reader: StoreReader<T>, scope: Scope, state: Arc<FoundState>) -> Self {
        Self {
            reader,
            scope,
            state,
        }
    }
}

impl<T: Send + Sync + 'static> Reuse<T> for StoreReuse<T> {
    fn reuse(&self, identity: &Identity) -> Option<Arc<T>> {
        // Before the look: the object is of this state of the store or of a later one.
        self.state.note(self.reader.sequence());
        // In place: threads that decode would else take turns at the count of one snapshot.
        self.reader.look(identity.key.as_str(), |entry| {
            let same = entry.uid == identity.uid && entry.version == identity.version;
            same.then(|| Arc::clone(&entry.object))
        })?
    }

    fn expected_items(&self) -> usize {
        let store = self.reader.snapshot();
        source_entries(&store, &self.scope).len()
    }
}

/// The oldest state of the store in which an object of the current list was looked for. If the
/// store is still in that state when the list is complete, it holds every object that was found.
pub(crate) struct FoundState(AtomicU64);

impl Default for FoundState {
    fn default() -> Self {
        Self(AtomicU64::new(u64::MAX))
    }
}

impl FoundState {
    fn note(&self, sequence: u64) {
        // Nearly always noted before: threads only read it then.
        if sequence < self.0.load(Ordering::Relaxed) {
            self.0.fetch_min(sequence, Ordering::Relaxed);
        }
    }

    /// Takes the state at the end of a list. Threads that still look for objects of an abandoned
    /// list may make that of the next list older than it is, never newer.
    pub(crate) fn take(&self) -> u64 {
        // The objects came from the threads that noted it, after they had noted it.
        self.0.swap(u64::MAX, Ordering::Relaxed)
    }
}
