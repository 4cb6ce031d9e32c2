//! Replaces stored objects by others of the same content.

use std::sync::Arc;

use informer_processor::{Cause, Notification, Updated};
use informer_store::{Batch, Entry, ObjectKey};

use crate::applying::applier::Applier;

/// One object and what replaces it.
pub(crate) struct Exchange<T> {
    pub(crate) key: ObjectKey,
    pub(crate) old: Arc<T>,
    pub(crate) new: Arc<T>,
}

impl<T: Send + Sync + 'static> Applier<T> {
    /// Replaces objects by others of the same content, with one commit. An object that has changed
    /// or gone meanwhile stays as it is. Versions stay, and handlers receive nothing.
    ///
    /// # Panics
    ///
    /// With an index function, which has not panicked on the same content before. Nothing is
    /// replaced then.
    pub(crate) fn exchange(&self, exchanges: Vec<Exchange<T>>) {
        let mut writing = self.lock();
        let before = self.reader.snapshot();
        let mut batch = Batch::with_capacity(exchanges.len());
        let mut announced = Vec::new();
        for Exchange { key, old, new } in exchanges {
            let entry = before.get(&key);
            let entry = match entry.filter(|entry| Arc::ptr_eq(&entry.object, &old)) {
                Some(held) => Entry::new(new, held.uid.clone(), held.version.clone()),
                None if planted!(RepackRevives) => Entry::anonymous(new),
                None => continue,
            };
            if planted!(RepackNotifies) {
                let new = Arc::clone(&entry.object);
                let update = Updated::new(key.clone(), old, new, Cause::Relist);
                announced.push(Arc::new(Notification::Updated(update)));
            }
            batch.upsert(key, entry);
        }
        let commit = writing.writer.commit(batch);
        if planted!(RepackNotifies) {
            self.processor.distribute(commit.sequence, &announced);
        }
        drop(writing);
        // The old objects are dropped here, outside of the lock.
        drop(before);
    }
}
