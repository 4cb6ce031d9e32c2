//! Lets the source find an unchanged object in the store instead of decoding it again.

use std::sync::Arc;

use informer_reflector::{ObjectMeta, Reuse};
use informer_store::{Entry, StoreReader};

use crate::arrival::key_of;

/// Finds objects by key, uid and version (design 6.7).
pub(crate) struct StoreReuse<T>(pub(crate) StoreReader<T>);

impl<T: Send + Sync + 'static> Reuse<T> for StoreReuse<T> {
    fn reuse(&self, meta: &ObjectMeta) -> Option<Arc<T>> {
        let key = key_of(meta).ok()?;
        let same =
            |entry: &Entry<T>| *entry.uid == *meta.uid && *entry.version == *meta.version.as_str();
        // In place: threads that decode would else take turns at the count of one snapshot.
        self.0.look(key.as_str(), |entry| {
            same(entry).then(|| Arc::clone(&entry.object))
        })?
    }
}
