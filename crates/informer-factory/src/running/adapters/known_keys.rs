//! Shows the queue which objects the store holds.

use informer_deltafifo::Known;
use informer_store::{ObjectKey, Scope, Snapshot};

use crate::applying::received_item::ReceivedItem;
use crate::applying::source_entries;

/// One snapshot of the part of the store that one source fills.
pub(crate) struct KnownKeys<T> {
    pub(crate) snapshot: Snapshot<T>,
    pub(crate) scope: Scope,
    /// The epoch in which it is asked: what a relist leaves out ends in the epoch of the relist.
    pub(crate) epoch: u32,
    /// Set if an object that is stored just so need not be queued again: it is of the same epoch
    /// as all that is stored, and no key waits in quarantine for a good version. It is the oldest
    /// state in which an object of the list was found in the store.
    pub(crate) skip_held: Option<u64>,
}

impl<T: Send + Sync + 'static> Known<ObjectKey, ReceivedItem<T>> for KnownKeys<T> {
    fn get(&self, key: &ObjectKey) -> Option<ReceivedItem<T>> {
        let entry = self.snapshot.get(key.as_str())?;
        Some(ReceivedItem::stored(entry, self.epoch))
    }

    fn for_each(&self, visit: &mut dyn FnMut(&ObjectKey, &ReceivedItem<T>)) {
        for (key, entry) in source_entries(&self.snapshot, &self.scope) {
            visit(key, &ReceivedItem::stored(entry, self.epoch));
        }
    }

    fn contains(&self, key: &ObjectKey) -> bool {
        self.snapshot.contains(key.as_str())
    }

    /// Judged as [`judge`](crate::applying::verdict::judge) would: to be kept.
    fn holds(&self, key: &ObjectKey, received: &ReceivedItem<T>) -> bool {
        let Some(found) = self.skip_held else {
            return false;
        };
        // It was found with this uid and version, and the store has not changed since.
        let is_found = received.is_found() && found == self.snapshot.sequence();
        let is_stored = || {
            let stored = self.snapshot.get(key.as_str());
            stored.is_some_and(|stored| {
                stored.version == received.version && stored.uid == received.uid
            })
        };
        received.object().is_ok() && !received.version.is_unset() && (is_found || is_stored())
    }

    fn for_each_key(&self, visit: &mut dyn FnMut(&ObjectKey)) {
        source_entries(&self.snapshot, &self.scope).for_each(|(key, _)| visit(key));
    }
}
