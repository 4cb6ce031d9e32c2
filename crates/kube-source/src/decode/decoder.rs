//! The port between the bytes of an object and the caller's type.

use std::{any::Any, fmt};

use informer_object::Identity;
use informer_reflector::{Body, DecodeError};

use crate::decode::shape::TypeNames;

/// Turns received objects into values of `T`, for one informer.
///
/// The source has read the identity of an object already, checks the size of its bytes before and
/// applies the transform after. Types that implement `serde::Deserialize` need no decoder of their
/// own: [`SerdeDecoder`](crate::SerdeDecoder) is one for all of them. Implement this trait for a
/// type that keeps bytes, a packed form or part of an object.
///
/// Decoding runs on several threads at a time, so state that objects share is behind `&self`.
///
/// ```
/// use informer_kube_source::{Buffers, Decode, Encoded, Wire};
/// use informer_reflector::{DecodeError, DecodeErrorCategory};
///
/// /// The JSON of an object, checked and not decoded.
/// struct Raw(Box<str>);
///
/// impl Raw {
///     fn value(&self) -> serde_json::Result<serde_json::Value> {
///         serde_json::from_str(&self.0)
///     }
/// }
///
/// struct KeepJson;
///
/// impl Decode<Raw> for KeepJson {
///     fn decode(&self, object: Encoded<'_>, _: &mut Buffers) -> Result<Raw, DecodeError> {
///         let Wire::Json(json) = object.wire else {
///             return Err(DecodeError::new(DecodeErrorCategory::Data, "?".into(), 0, 0));
///         };
///         serde_json::from_str::<serde::de::IgnoredAny>(json).map_err(|error| {
///             let (line, column) = (error.line(), error.column());
///             DecodeError::new(DecodeErrorCategory::Syntax, "?".into(), line, column)
///         })?;
///         Ok(Raw(json.into()))
///     }
/// }
/// # let _ = (KeepJson, Raw::value);
/// ```
pub trait Decode<T>: Send + Sync + 'static {
    /// Decodes one object.
    ///
    /// `buffers` belongs to the calling thread and comes back with the next object it decodes.
    ///
    /// # Errors
    ///
    /// A [`DecodeError`] quarantines the object: its identity is reported, and the rest of the list
    /// or watch continues. An implementation must return one for bytes that are not well formed,
    /// because an event counts as received once its object is decoded.
    fn decode(&self, object: Encoded<'_>, buffers: &mut Buffers) -> Result<T, DecodeError>;

    /// The average bytes that a decoded object takes in memory, with everything it owns.
    ///
    /// The default is `None`: the size is not measured, and `size_of::<T>()` is used.
    fn object_bytes(&self) -> Option<usize> {
        None
    }

    /// Whether [`decode`](Self::decode) reads [`Wire::Protobuf`].
    ///
    /// Protobuf is not requested otherwise. It is called for each list and watch. The default is
    /// false.
    fn reads_protobuf(&self) -> bool {
        false
    }

    /// The bytes that all decoded objects share, such as those of a dictionary.
    ///
    /// The default is 0.
    fn shared_bytes(&self) -> usize {
        0
    }

    /// Returns true while the decoder collects the first objects. [`finish`](Self::finish) then
    /// receives them before the reflector does.
    ///
    /// The initial events of a streaming list are held back for as long as this is true, at most
    /// until the last of them or for 10 seconds. It is called after each of them. Default: false.
    fn is_learning(&self) -> bool {
        false
    }

    /// Called with the items of each page before the page is handed on, and with the initial events
    /// that were held back, so that a decoder that learns from objects may replace those it has
    /// decoded before.
    ///
    /// If [`is_learning`](Self::is_learning) is true when a page begins, `finish` is called as soon
    /// as it is false: with the items decoded so far, and with each batch that was in flight. It
    /// does not receive the other items of the page, nor other items of a watch. It runs on a
    /// decoding thread for the items that a decoder has learned from, and on the task that reads
    /// the list for others. A panic is logged and leaves the items that were not replaced yet as
    /// they are.
    ///
    /// The default does nothing.
    #[expect(unused_variables, reason = "the name is part of the documentation")]
    fn finish<'a>(&self, items: &mut dyn Iterator<Item = (&'a Identity, &'a mut Body<T>)>)
    where
        T: 'a,
    {
    }
}

/// One object as received.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Encoded<'a> {
    /// Its bytes, in the format they were received in.
    pub wire: Wire<'a>,
    /// The type names of the collection, if the object does not contain its own, as items of lists.
    /// [`Wire::Protobuf`] never does.
    pub type_names: Option<TypeNames<'a>>,
    /// Its key, uid and version.
    pub identity: &'a Identity,
}

impl<'a> Encoded<'a> {
    /// The protobuf message of an object of this type.
    #[must_use]
    pub fn protobuf(message: &'a [u8], type_names: TypeNames<'a>, identity: &'a Identity) -> Self {
        Self {
            wire: Wire::Protobuf(message),
            type_names: Some(type_names),
            identity,
        }
    }

    /// An object that contains its own type names.
    #[must_use]
    pub fn new(wire: Wire<'a>, identity: &'a Identity) -> Self {
        Self {
            wire,
            type_names: None,
            identity,
        }
    }
}

/// The bytes of an object, by wire format.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Wire<'a> {
    /// JSON, checked to be UTF-8 and not yet to be well formed.
    Json(&'a str),
    /// The protobuf message of the object, without an envelope and not checked yet. It contains no
    /// type names; those of [`Encoded::type_names`] select its schema.
    Protobuf(&'a [u8]),
}

// The bytes are not shown: they may be a Secret.
impl fmt::Debug for Wire<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(json) => write!(f, "Json({} bytes)", json.len()),
            Self::Protobuf(message) => write!(f, "Protobuf({} bytes)", message.len()),
        }
    }
}

/// Memory that a decoder reuses from one object to the next on the same thread.
#[derive(Debug, Default)]
pub struct Buffers(Option<Box<dyn Any + Send>>);

impl Buffers {
    /// Empty buffers, which take no memory.
    pub const fn new() -> Self {
        Self(None)
    }

    /// The buffers of type `B`, made by `Default` if the last decoder used another type.
    pub fn get<B: Any + Default + Send>(&mut self) -> &mut B {
        let held = self.0.take().and_then(|held| held.downcast::<B>().ok());
        let held = self.0.insert(held.unwrap_or_default());
        held.downcast_mut().expect("it is of this type")
    }
}
