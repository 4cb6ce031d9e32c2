//! The three parts of an identity together.

use crate::{ObjectKey, ResourceVersion, Uid};

/// The identity of one version of one object, as the source received it.
///
/// It is read from the metadata on the wire, before any transform, and travels beside the object
/// from then on. A transform may therefore remove the metadata.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Identity {
    /// The key under which the object is stored.
    pub key: ObjectKey,
    /// The incarnation of the key; unknown if the source gave none.
    pub uid: Uid,
    /// The version of the object; unset if the source gave none.
    pub version: ResourceVersion,
}

impl Identity {
    /// An identity of these parts.
    pub fn new(key: ObjectKey, uid: impl Into<Uid>, version: impl Into<ResourceVersion>) -> Self {
        Self {
            key,
            uid: uid.into(),
            version: version.into(),
        }
    }
}
