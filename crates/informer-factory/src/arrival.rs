//! One version of one object on its way from the reflector to the store.

use std::{fmt, sync::Arc};

use informer_reflector::{ObjectMeta, ResourceVersion};
use informer_store::{Entry, KeyError, ObjectKey};

/// What the queue carries: the store's entry, and the epoch it was received in.
///
/// Versions of two epochs cannot be compared: between them the server's history was rewound
/// (FM-39, RFX-15).
pub(crate) struct Arrival<T> {
    /// Object, uid and version, as they will be stored.
    pub(crate) entry: Entry<T>,
    /// Counts the rewinds of the server's history since the informer started.
    pub(crate) epoch: u32,
}

impl<T> Arrival<T> {
    /// Puts an object and its identity from the wire together (design 6.6).
    pub(crate) fn new(object: Arc<T>, meta: &ObjectMeta, epoch: u32) -> Self {
        let (uid, version) = (Arc::clone(&meta.uid), meta.version.to_shared());
        Self {
            entry: Entry {
                object,
                uid,
                version,
            },
            epoch,
        }
    }
}

/// The key of an object on the wire.
///
/// # Errors
///
/// [`KeyError`] for names that no object can have, an empty one above all (STX-6, FM-52).
pub(crate) fn key_of(meta: &ObjectMeta) -> Result<ObjectKey, KeyError> {
    ObjectKey::new(meta.namespace.as_deref(), &meta.name)
}

/// True if `candidate` is a version before `stored`. Incomparable versions are not older (FM-41).
pub(crate) fn is_older(candidate: &Arc<str>, stored: &Arc<str>) -> bool {
    let version = |text: &Arc<str>| ResourceVersion::new(Arc::clone(text));
    version(candidate).is_older_than(&version(stored))
}

impl<T> Clone for Arrival<T> {
    fn clone(&self) -> Self {
        Self {
            entry: self.entry.clone(),
            epoch: self.epoch,
        }
    }
}

/// Never shows the object (SEC-6).
impl<T> fmt::Debug for Arrival<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrival")
            .field("uid", &self.entry.uid)
            .field("version", &self.entry.version)
            .field("epoch", &self.epoch)
            .finish()
    }
}
