//! The structs of k8s-openapi, filled from their fields without serde.
//!
//! A visitor receives the name of each field and compares it with all names of the struct. Here a
//! field is found by its number. The decoded values are those of serde; the tests compare them.
//!
//! Only messages as API servers write them are decoded here. All functions return `None` for
//! anything else, damage as well as unusual encodings, and the caller decodes the message through
//! serde, which decides whether it is an error, and which one.

#[macro_use]
mod message;

mod dropped;
mod fields;
mod messages;
mod read;
mod scalars;
#[cfg(test)]
mod tests;

use std::any::Any;

use k8s_openapi::Resource;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::decode::Within;
use crate::schema::Schema;
use dropped::DroppedWithin;
use fields::{Fields, read_fields};
use read::Blank;

/// The name of the message of metadata.
const METADATA: &str = "meta/v1.ObjectMeta";

/// The message of an object, and what the decode leaves out.
#[derive(Clone, Copy)]
pub(crate) struct Object<'de> {
    pub(crate) schema: Schema,
    pub(crate) message: &'de [u8],
    /// The `apiVersion` and `kind` that are supplied.
    pub(crate) names: Option<[&'de str; 2]>,
    pub(crate) dropped: Within<'de>,
}

impl<'de> Object<'de> {
    /// Decodes into `T`, if it is a struct of k8s-openapi for this schema.
    pub(crate) fn decode<T: 'static>(self) -> Option<T> {
        let mut decoded: Option<T> = None;
        match (&mut decoded as &mut dyn Any).downcast_mut() {
            Some(metadata) => self.fill_metadata(metadata)?,
            None => messages::decode(self, &mut decoded)?,
        }
        decoded
    }

    fn within(self) -> Option<DroppedWithin<'de>> {
        let message = Some(self.schema.fields());
        self.dropped.map(|node| DroppedWithin::new(node, message))
    }

    /// Metadata is no object of its own, and has no names.
    fn fill_metadata(self, slot: &mut Option<ObjectMeta>) -> Option<()> {
        if self.names.is_some() || self.schema.name() != METADATA {
            return None;
        }
        let metadata = slot.insert(ObjectMeta::default());
        read_fields::<ObjectMeta, ObjectMeta>(metadata, self.message, self.within())
    }

    /// Fills `slot`, if it is an `Option<T>`.
    fn fill<T>(self, name: &str, slot: &mut dyn Any) -> Option<()>
    where
        T: Resource + Fields<T> + Blank + 'static,
    {
        let slot = slot.downcast_mut::<Option<T>>()?;
        let is_named = (self.names).is_none_or(|names| names == [T::API_VERSION, T::KIND]);
        if !is_named || self.schema.name() != name {
            return None;
        }
        read_fields::<T, T>(slot.insert(T::blank()), self.message, self.within())
    }
}
