//! Lets the source find an unchanged object in the store instead of decoding it again.

use std::sync::Arc;

use informer_reflector::{ObjectMeta, Reuse};
use informer_store::StoreReader;

use crate::applying::arrival::key_of;

/// Finds objects by key, uid and version (design 6.7).
pub(crate) struct StoreReuse<T>(pub(crate) StoreReader<T>);

impl<T: Send + Sync + 'static> Reuse<T> for StoreReuse<T> {
    fn reuse(&self, meta: &ObjectMeta) -> Option<Arc<T>> {
        let key = key_of(meta).ok()?;
        // In place: threads that decode would else take turns at the count of one snapshot.
        self.0.look(key.as_str(), |entry| {
            let same = *entry.uid == *meta.uid && *entry.version == *meta.version.as_str();
            same.then(|| Arc::clone(&entry.object))
        })?
    }
}
