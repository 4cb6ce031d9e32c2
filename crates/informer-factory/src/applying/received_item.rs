//! One version of one object on its way from the reflector to the store.

use std::{fmt, sync::Arc};

use derive_where::derive_where;
use informer_object::{Identity, ObjectKey, ResourceVersion, Uid};
use informer_reflector::{Body, DecodeError, Item};
use informer_store::Entry;

/// A received object, or the error of its decoding, and the epoch it was received in.
///
/// What cannot be decoded goes through the queue like everything else, so that it is judged in
/// order, against what the store then holds. Versions of two epochs cannot be
/// compared: between them the server's history was rewound.
// FM-53, FM-54, FM-39, RFX-15
#[derive_where(Clone)]
pub(crate) struct ReceivedItem<T> {
    /// The object. The error is in a box, since everything that waits has room for it.
    pub(crate) object: Result<Arc<T>, Box<DecodeError>>,
    /// Its uid on the wire.
    pub(crate) uid: Uid,
    /// Its version on the wire.
    pub(crate) version: ResourceVersion,
    /// Counts the rewinds of the server's history since the informer started.
    pub(crate) epoch: u32,
    /// Whether the object was found in the store by its identity, and not decoded.
    pub(crate) is_found: bool,
}

impl<T> ReceivedItem<T> {
    /// The key and the queued part of an item that was received in an epoch.
    pub(crate) fn new(item: Item<T>, epoch: u32) -> (ObjectKey, Self) {
        let Identity {
            key, uid, version, ..
        } = item.identity;
        let is_found = matches!(item.body, Body::Reused(_));
        let object = match item.body {
            Body::Decoded(object) | Body::Reused(object) => Ok(object),
            Body::Undecodable(error) => Err(Box::new(error)),
        };
        let received = Self {
            object,
            uid,
            version,
            epoch,
            is_found,
        };
        (key, received)
    }

    /// A stored object, as if it had just been received.
    pub(crate) fn stored(entry: &Entry<T>, epoch: u32) -> Self {
        Self {
            object: Ok(Arc::clone(&entry.object)),
            uid: entry.uid.clone(),
            version: entry.version.clone(),
            epoch,
            is_found: false,
        }
    }

    /// The store's entry for an object of this identity.
    pub(crate) fn entry(&self, object: &Arc<T>) -> Entry<T> {
        Entry::new(Arc::clone(object), self.uid.clone(), self.version.clone())
    }
}

/// Never shows the object.
// SEC-6
impl<T> fmt::Debug for ReceivedItem<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceivedItem")
            .field("uid", &self.uid)
            .field("version", &self.version)
            .field("epoch", &self.epoch)
            .field("error", &self.object.as_ref().err())
            .finish()
    }
}
