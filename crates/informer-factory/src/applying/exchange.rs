//! Replaces stored objects by others of the same content.

use std::sync::Arc;

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
        for Exchange { key, old, new } in exchanges {
            if let Some(entry) = before.get(&key)
                && Arc::ptr_eq(&entry.object, &old)
            {
                let (uid, version) = (entry.uid.clone(), entry.version.clone());
                batch.upsert(key, Entry::new(new, uid, version));
            }
        }
        writing.writer.commit(batch);
        drop(writing);
        // The old objects are dropped here, outside of the lock.
        drop(before);
    }
}
