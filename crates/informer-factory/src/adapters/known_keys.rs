//! Lets the queue ask the store which objects it holds.

use informer_deltafifo::Known;
use informer_store::{Entry, ObjectKey, Scope, Snapshot};

use crate::arrival::Arrival;

/// One snapshot of the part of the store that one source fills.
///
/// A namespace's relist must not hear of the keys of another namespace (FM-14).
pub(crate) struct KnownKeys<T> {
    pub(crate) snapshot: Snapshot<T>,
    pub(crate) scope: Scope,
    /// The epoch in which it is asked: what a relist leaves out ends in the epoch of the relist.
    pub(crate) epoch: u32,
}

impl<T: Send + Sync + 'static> Known<ObjectKey, Arrival<T>> for KnownKeys<T> {
    fn get(&self, key: &ObjectKey) -> Option<Arrival<T>> {
        let entry = self.snapshot.get(key.as_str())?;
        Some(Arrival::stored(entry, self.epoch))
    }

    fn for_each(&self, visit: &mut dyn FnMut(&ObjectKey, &Arrival<T>)) {
        let mut each = |(key, entry): (&ObjectKey, &Entry<T>)| {
            visit(key, &Arrival::stored(entry, self.epoch));
        };
        match &self.scope {
            Scope::All => self.snapshot.iter().for_each(&mut each),
            Scope::Namespace(namespace) => {
                self.snapshot.namespace(namespace).for_each(&mut each);
            }
        }
    }
}
