//! The view of programs that need none, and what a view gives its object.

use std::fmt;

use serde::Deserializer;
use serde::de::{Deserialize, IgnoredAny};

use crate::object::{HasLabels, HasNode, HasOwners, Object, Owner};
use crate::packing::PackedObject;
use crate::{KeyError, ObjectKey};

/// The view of a packed object of which nothing is kept decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct NoView;

impl<'de> Deserialize<'de> for NoView {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl<K, V> Object for PackedObject<K, V> {
    fn key(&self) -> Result<ObjectKey, KeyError> {
        Ok(self.identity().key.clone())
    }
}

impl<K, V: HasLabels> HasLabels for PackedObject<K, V> {
    fn label(&self, name: &str) -> Option<&str> {
        self.view().label(name)
    }
}

impl<K, V: HasOwners> HasOwners for PackedObject<K, V> {
    fn owners(&self) -> impl Iterator<Item = Owner<'_>> {
        self.view().owners()
    }
}

impl<K, V: HasNode> HasNode for PackedObject<K, V> {
    fn node(&self) -> Option<&str> {
        self.view().node()
    }
}

/// Shows the identity only, since the object may be a Secret.
// SEC-6
impl<K, V> fmt::Debug for PackedObject<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackedObject")
            .field("identity", self.identity())
            .finish_non_exhaustive()
    }
}
