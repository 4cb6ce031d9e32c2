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
    content: Content<T>,
    /// Its uid on the wire.
    pub(crate) uid: Uid,
    /// Its version on the wire.
    pub(crate) version: ResourceVersion,
}

/// The object or its error, each with the epoch in which it was received.
///
/// The epoch counts the rewinds of the server's history since the informer started. Each variant
/// contains it, because it fits into their padding there. A received item must not be larger than
/// the listed item: a long list is then converted in its memory.
#[derive_where(Clone)]
enum Content<T> {
    Decoded(u32, Arc<T>),
    /// Found in the store by its identity, and not decoded.
    Found(u32, Arc<T>),
    Undecodable(u32, Box<DecodeError>),
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<(ObjectKey, ReceivedItem<()>)>() <= size_of::<Item<()>>());

impl<T> ReceivedItem<T> {
    /// The key and the queued part of an item that was received in an epoch.
    pub(crate) fn new(item: Item<T>, epoch: u32) -> (ObjectKey, Self) {
        let Identity {
            key, uid, version, ..
        } = item.identity;
        let content = match item.body {
            Body::Decoded(object) => Content::Decoded(epoch, object),
            Body::Reused(object) => Content::Found(epoch, object),
            Body::Undecodable(error) => Content::Undecodable(epoch, error),
        };
        let received = Self {
            content,
            uid,
            version,
        };
        (key, received)
    }

    /// A stored object, as if it had just been received.
    pub(crate) fn stored(entry: &Entry<T>, epoch: u32) -> Self {
        Self {
            content: Content::Decoded(epoch, Arc::clone(&entry.object)),
            uid: entry.uid.clone(),
            version: entry.version.clone(),
        }
    }

    /// The object, or why it could not be decoded.
    pub(crate) fn object(&self) -> Result<&Arc<T>, &DecodeError> {
        match &self.content {
            Content::Decoded(_, object) | Content::Found(_, object) => Ok(object),
            Content::Undecodable(_, error) => Err(error),
        }
    }

    /// The epoch in which the item was received.
    pub(crate) fn epoch(&self) -> u32 {
        match self.content {
            Content::Decoded(epoch, _)
            | Content::Found(epoch, _)
            | Content::Undecodable(epoch, _) => epoch,
        }
    }

    /// Whether the object was found in the store by its identity, and not decoded.
    pub(crate) fn is_found(&self) -> bool {
        matches!(self.content, Content::Found(..))
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
            .field("epoch", &self.epoch())
            .field("error", &self.object().err())
            .finish()
    }
}
