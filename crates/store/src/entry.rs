//! What is stored under a key: the object, and the identity that came with it.
//!
//! uid and version are kept beside the object because a transform may have removed them from it.
//! The store compares neither with anything: whether a newer version replaces an older one is the
//! caller's duty.

// ST-02

use std::hint::black_box;
use std::sync::Arc;

use derive_where::derive_where;
use informer_object::{ResourceVersion, Uid};

/// One stored object and its identity.
///
/// The object is shared, never copied, and never changes while it is stored.
// ST-08, STX-5
#[derive_where(Clone, Debug)]
#[non_exhaustive]
pub struct Entry<T> {
    /// The object itself.
    // It may be a Secret, so it is never printed.
    #[derive_where(skip(Debug))]
    pub object: Arc<T>,
    /// The incarnation of the key.
    pub uid: Uid,
    /// The version of the object itself.
    pub version: ResourceVersion,
}

impl<T> Entry<T> {
    /// An entry with a known identity.
    pub fn new(
        object: impl Into<Arc<T>>,
        uid: impl Into<Uid>,
        version: impl Into<ResourceVersion>,
    ) -> Self {
        Self {
            object: object.into(),
            uid: uid.into(),
            version: version.into(),
        }
    }

    /// An entry whose uid and version are unknown.
    pub fn anonymous(object: impl Into<Arc<T>>) -> Self {
        Self {
            object: object.into(),
            uid: Uid::unknown(),
            version: ResourceVersion::unset(),
        }
    }

    /// Loads the count that dropping the entry will change: long unused, it is in no cache.
    pub(crate) fn fetch(&self) {
        black_box(Arc::strong_count(&self.object));
    }

    /// Whether both are the very same object in memory, with the same identity.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.object, &other.object)
            && self.uid == other.uid
            && self.version == other.version
    }
}
