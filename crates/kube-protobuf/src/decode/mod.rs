//! Decoding: a serde `Deserializer` over the bytes of a message.

mod access;
mod check;
mod choice;
mod copy;
mod deserializer;
mod dropped;
mod elements;
mod ignored;
mod key;
mod members;
mod parsed;
mod special;
#[cfg(test)]
mod tests;
mod value;

use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Visitor};
use serde::forward_to_deserialize_any;

use crate::error::{Error, Result};
use crate::schema::Schema;
use crate::wire;
use access::Map;
pub use copy::copy_without;
pub(crate) use dropped::Within;
pub use dropped::{Dropped, DroppedFields};
pub use key::KeyDeserializer;
use members::Members;

// What the structs of k8s-openapi are read by, too.
#[cfg(feature = "k8s-openapi")]
pub(crate) use {
    dropped::{children_of, within},
    elements::{Entries, count, skip_all},
    parsed::Parsed,
    special::{is_zero_time, json_tree, read_text, timestamp},
};

/// The number of the field `metadata`.
#[cfg(feature = "k8s-openapi")]
const METADATA: u32 = 1;

/// Decodes one bare message, such as an item of a list.
///
/// A bare message has no `apiVersion` and no `kind`; an [`Envelope`](crate::Envelope) has them.
///
/// # Errors
///
/// The bytes are no message of this schema, or `T` refuses a value.
///
/// ```
/// use informer_kube_protobuf::{Schema, from_slice};
///
/// #[derive(serde::Deserialize)]
/// struct Meta<'a> {
///     name: &'a str,
/// }
///
/// let schema = Schema::message("meta/v1.ObjectMeta").expect("a message of the table");
/// let meta: Meta = from_slice(schema, b"\x0a\x05web-0")?;
/// assert_eq!(meta.name, "web-0");
/// # Ok::<(), informer_kube_protobuf::Error>(())
/// ```
pub fn from_slice<'de, T: Deserialize<'de>>(schema: Schema, message: &'de [u8]) -> Result<T> {
    T::deserialize(Deserializer::new(schema, message)).map_err(|error| error.in_input(message))
}

/// A serde deserializer over one message.
///
/// [`from_slice`] is the usual way in; this type serves adapters such as `serde_path_to_error`.
/// Errors of a deserializer that is used directly have no offset.
#[derive(Clone, Copy)]
pub struct Deserializer<'de> {
    schema: Schema,
    message: &'de [u8],
    /// The message with `apiVersion` and `kind`, of objects that have them.
    type_meta: Option<&'de [u8]>,
    /// The `apiVersion` and `kind` that are supplied.
    names: Option<[&'de str; 2]>,
    dropped: Within<'de>,
}

impl<'de> Deserializer<'de> {
    /// Creates a deserializer for a bare message.
    #[must_use]
    pub fn new(schema: Schema, message: &'de [u8]) -> Self {
        Self {
            schema,
            message,
            type_meta: None,
            names: None,
            dropped: None,
        }
    }

    /// Supplies `apiVersion` and `kind`, which a bare message lacks.
    ///
    /// ```
    /// use informer_kube_protobuf::{Deserializer, Schema};
    /// use serde::Deserialize;
    /// use serde_json::{Value, json};
    ///
    /// let schema = Schema::of("v1", "Namespace").expect("a built-in kind");
    /// let namespace = Deserializer::new(schema, b"").named("v1", "Namespace");
    /// let namespace = Value::deserialize(namespace)?;
    /// assert_eq!(namespace["kind"], json!("Namespace"));
    /// # Ok::<(), informer_kube_protobuf::Error>(())
    /// ```
    #[must_use]
    pub fn named(mut self, api_version: &'de str, kind: &'de str) -> Self {
        self.names = Some([api_version, kind]);
        self
    }

    /// Leaves out fields. A dropped field is skipped by its length: damage within it is not found,
    /// and it is absent even if JSON always has it.
    ///
    /// Paths lead into JSON within a field, too, other than in [`copy_without`].
    #[must_use]
    pub fn without(mut self, dropped: &'de dyn Dropped) -> Self {
        self.dropped = Some(dropped);
        self
    }

    /// Returns a deserializer of the metadata, if the message is a `PartialObjectMetadata` with
    /// metadata and nothing else.
    ///
    /// It decodes an `ObjectMeta` of k8s-openapi without serde. Types that contain one decode it
    /// through serde.
    ///
    /// ```
    /// use informer_kube_protobuf::{Deserializer, Schema, to_vec};
    /// use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    /// use serde_json::json;
    ///
    /// let schema = Schema::of("meta.k8s.io/v1", "PartialObjectMetadata").expect("a built-in kind");
    /// let message = to_vec(schema, &json!({"metadata": {"name": "web"}}))?;
    /// let metadata = Deserializer::new(schema, &message).metadata().expect("nothing else");
    /// assert_eq!(metadata.decode::<ObjectMeta>()?.name.as_deref(), Some("web"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "k8s-openapi")]
    #[must_use]
    pub fn metadata(&self) -> Option<Self> {
        if self.schema.name() != "meta/v1.PartialObjectMetadata" || self.type_meta.is_some() {
            return None;
        }
        let mut rest = self.message;
        let tag = wire::tag(&mut rest).ok()?;
        let message = wire::bytes(&mut rest).ok()?;
        if tag != (METADATA, wire::BYTES) {
            return None;
        }
        let dropped = within(self.dropped, "metadata")?;
        let schema = self.schema.fields().of_field(METADATA)?;
        rest.is_empty().then_some(Self {
            dropped,
            ..Self::new(schema, message)
        })
    }

    /// Decodes the message.
    ///
    /// This is `T::deserialize`, and quicker for the structs of k8s-openapi with the feature
    /// `k8s-openapi`, since those of the usual groups are decoded without serde then. The value or
    /// the error is the same.
    ///
    /// # Errors
    ///
    /// The bytes are no message of this schema, or `T` refuses a value.
    #[inline]
    pub fn decode<T: DeserializeOwned + 'static>(self) -> Result<T> {
        let message = self.message;
        wire::fetch(message);
        #[cfg(feature = "k8s-openapi")]
        if let Some(decoded) = self.decode_struct() {
            return Ok(decoded);
        }
        T::deserialize(self).map_err(|error| error.in_input(message))
    }

    #[cfg(feature = "k8s-openapi")]
    #[inline]
    fn decode_struct<T: 'static>(&self) -> Option<T> {
        let object = crate::structs::Object {
            schema: self.schema,
            message: self.message,
            names: self.names,
            dropped: self.dropped,
        };
        match self.type_meta {
            None => object.decode(),
            Some(_) => None,
        }
    }

    pub(crate) fn with_type_meta(schema: Schema, message: &'de [u8], meta: &'de [u8]) -> Self {
        Self {
            type_meta: Some(meta),
            ..Self::new(schema, message)
        }
    }

    fn members(self) -> Members<'de> {
        let mut members = Members::new(self.schema.fields(), self.message, 1);
        members.leave_out(self.dropped);
        members.names = self.names;
        match self.type_meta {
            Some(meta) => members.before(Schema::type_meta().fields(), meta),
            None => members,
        }
    }
}

impl<'de> serde::Deserializer<'de> for Deserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if let Some(choice) = self.schema.choice() {
            let chosen = choice::choose(self.schema.fields(), choice, self.message)?;
            return value::read_chosen(chosen, 1)?.visit(self.dropped, visitor);
        }
        visitor.visit_map(Map::Members(&mut self.members()))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if self.schema.choice().is_some() {
            return self.deserialize_any(visitor);
        }
        let mut members = self.members();
        members.skip_ignored(ignored::ignored_by::<V>(self.schema.entry(), fields));
        visitor.visit_map(Map::Members(&mut members))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        value::refuse_json_only(name)?;
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        // The tag of an enum is not known, so nothing is dropped inside.
        self.dropped = None;
        let mut members = self.members();
        Map::Members(&mut members).deserialize_enum(name, variants, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier
    }
}

/// Shows the schema and the length: the object may contain secrets.
impl fmt::Debug for Deserializer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deserializer")
            .field("schema", &self.schema)
            .field("message", &format_args!("{} bytes", self.message.len()))
            .finish_non_exhaustive()
    }
}
