//! Lets the source find an unchanged object in the store instead of decoding it again.

use std::sync::Arc;

use informer_object::Identity;
use informer_reflector::Reuse;
use informer_store::StoreReader;

/// Finds objects by key, uid and version.
pub(crate) struct StoreReuse<T>(pub(crate) StoreReader<T>);

impl<T: Send + Sync + 'static> Reuse<T> for StoreReuse<T> {
    fn reuse(&self, identity: &Identity) -> Option<Arc<T>> {
        // In place: threads that decode would else take turns at the count of one snapshot.
        self.0.look(identity.key.as_str(), |entry| {
            let same = entry.uid == identity.uid && entry.version == identity.version;
            same.then(|| Arc::clone(&entry.object))
        })?
    }
}
