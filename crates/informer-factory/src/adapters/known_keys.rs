//! Lets the queue ask the store which objects it holds.

use informer_deltafifo::Known;
use informer_store::{ObjectKey, Scope, Snapshot};

use crate::arrival::Arrival;

/// One snapshot of the part of the store that one source fills.
///
/// A namespace's relist must not hear of the keys of another namespace (FM-14).
pub(crate) struct KnownKeys<T> {
    pub(crate) snapshot: Snapshot<T>,
    pub(crate) scope: Scope,
    /// The epoch of what the store holds.
    pub(crate) epoch: u32,
}

impl<T: Send + Sync + 'static> Known<ObjectKey, Arrival<T>> for KnownKeys<T> {
    fn get(&self, key: &ObjectKey) -> Option<Arrival<T>> {
        let entry = self.snapshot.get(key.as_str())?.clone();
        Some(Arrival {
            entry,
            epoch: self.epoch,
        })
    }

    fn for_each(&self, visit: &mut dyn FnMut(&ObjectKey, &Arrival<T>)) {
        let mut each = |key: &ObjectKey, entry: &informer_store::Entry<T>| {
            visit(
                key,
                &Arrival {
                    entry: entry.clone(),
                    epoch: self.epoch,
                },
            );
        };
        match &self.scope {
            Scope::All => self
                .snapshot
                .iter()
                .for_each(|(key, entry)| each(key, entry)),
            Scope::Namespace(namespace) => {
                self.snapshot
                    .namespace(namespace)
                    .for_each(|(key, entry)| each(key, entry));
            }
        }
    }
}
