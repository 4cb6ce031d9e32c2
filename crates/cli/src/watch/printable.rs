//! Objects that are kept packed, and unpacked when a change of them is printed.

use informer_factory::{PackedObject, PartialObjectMetadata};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// An object that is kept packed until it is printed.
pub(super) type Printable<K> = PackedObject<K, Readable>;

/// The view of objects that are printed: nothing of them is kept decoded.
///
/// An object whose metadata cannot be read is quarantined on arrival, and so named after the first
/// list; nothing else of an object can be unreadable.
pub(super) struct Readable;

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PartialObjectMetadata::deserialize(deserializer).map(|_| Self)
    }
}

/// Returns objects as JSON.
pub(super) trait ToJson: Send + Sync + 'static {
    /// Returns the object as JSON, and null if it cannot be read.
    fn to_json(&self) -> Value;
}

impl<K: Serialize + DeserializeOwned + 'static> ToJson for Printable<K> {
    fn to_json(&self) -> Value {
        // Any object can be written as JSON.
        let object = self.unpack().ok();
        let json = object.and_then(|object| serde_json::to_value(object).ok());
        json.unwrap_or(Value::Null)
    }
}

#[cfg(test)]
impl ToJson for Value {
    fn to_json(&self) -> Value {
        self.clone()
    }
}
