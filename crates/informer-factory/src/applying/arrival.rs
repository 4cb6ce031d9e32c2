//! One version of one object on its way from the reflector to the store.

use std::{fmt, sync::Arc};

use informer_reflector::{Body, DecodeError, ObjectMeta, ResourceVersion};
use informer_store::{Entry, KeyError, ObjectKey};

/// What the queue carries: an object, or why nobody can use it, and the epoch it was received in.
///
/// What cannot be decoded goes through the queue like everything else, so that it is judged in
/// order, against what the store then holds (FM-53, FM-54). Versions of two epochs cannot be
/// compared: between them the server's history was rewound (FM-39, RFX-15).
pub(crate) struct Arrival<T> {
    /// The object. The error is in a box, since everything that waits has room for it.
    pub(crate) object: Result<Arc<T>, Box<DecodeError>>,
    /// Its uid on the wire; empty if there was none.
    pub(crate) uid: Arc<str>,
    /// Its version on the wire; empty if there was none.
    pub(crate) version: Arc<str>,
    /// Counts the rewinds of the server's history since the informer started.
    pub(crate) epoch: u32,
}

impl<T> Arrival<T> {
    /// Puts an object and its identity from the wire together (design 6.6).
    pub(crate) fn new(body: Body<T>, meta: &ObjectMeta, epoch: u32) -> Self {
        let object = match body {
            Body::Decoded(object) | Body::Reused(object) => Ok(object),
            Body::Undecodable(error) => Err(Box::new(error)),
        };
        Self {
            object,
            uid: Arc::clone(&meta.uid),
            version: meta.version.to_shared(),
            epoch,
        }
    }

    /// What the store holds, as if it had just arrived.
    pub(crate) fn stored(entry: &Entry<T>, epoch: u32) -> Self {
        Self {
            object: Ok(Arc::clone(&entry.object)),
            uid: Arc::clone(&entry.uid),
            version: Arc::clone(&entry.version),
            epoch,
        }
    }

    /// The store's entry for an object of this identity.
    pub(crate) fn entry(&self, object: &Arc<T>) -> Entry<T> {
        Entry {
            object: Arc::clone(object),
            uid: Arc::clone(&self.uid),
            version: Arc::clone(&self.version),
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
    if candidate == stored {
        return false;
    }
    let version = |text: &Arc<str>| ResourceVersion::new(Arc::clone(text));
    version(candidate).is_older_than(&version(stored))
}

impl<T> Clone for Arrival<T> {
    fn clone(&self) -> Self {
        Self {
            object: self.object.clone(),
            uid: Arc::clone(&self.uid),
            version: Arc::clone(&self.version),
            epoch: self.epoch,
        }
    }
}

/// Never shows the object (SEC-6).
impl<T> fmt::Debug for Arrival<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arrival")
            .field("uid", &self.uid)
            .field("version", &self.version)
            .field("epoch", &self.epoch)
            .field("error", &self.object.as_ref().err())
            .finish()
    }
}
