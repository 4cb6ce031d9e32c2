//! Deserializes the key of a map.

use std::borrow::Cow;
use std::marker::PhantomData;

use serde::de::value::CowStrDeserializer;
use serde::de::{Error, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use serde_json::Deserializer as Json;
use serde_json::de::IoRead;

/// Deserializes a text as serde_json deserializes the key of an object: also as a number, a bool,
/// an option, a newtype or a unit variant.
///
/// For deserializers of maps and of names that are not on the wire. serde's own deserializers of
/// strings refuse most of these types. `E` is the error of the other deserializer.
///
/// ```
/// use informer_kube_protobuf::KeyDeserializer;
/// use serde::Deserialize;
/// use serde::de::value::Error;
///
/// let port = u16::deserialize(KeyDeserializer::<Error>::new("8080"))?;
/// assert_eq!(port, 8080);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct KeyDeserializer<'de, E> {
    text: Cow<'de, str>,
    error: PhantomData<E>,
}

impl<'de, E: Error> KeyDeserializer<'de, E> {
    /// Creates a deserializer of a text.
    #[inline]
    #[must_use]
    pub fn new(text: impl Into<Cow<'de, str>>) -> Self {
        Self {
            text: text.into(),
            error: PhantomData,
        }
    }

    /// Reads the text as a JSON number. serde_json accepts no white space around it.
    fn number<R>(
        &self,
        read: impl FnOnce(&mut Json<IoRead<&[u8]>>) -> serde_json::Result<R>,
    ) -> Result<R, E> {
        let is_digit = |c: char| c.is_ascii_digit();
        let is_number = self.text.trim_start_matches('-').starts_with(is_digit)
            && self.text.ends_with(is_digit);
        let mut json = Json::from_reader(self.text.as_bytes());
        match is_number.then(|| read(&mut json)) {
            Some(Ok(number)) if json.end().is_ok() => Ok(number),
            _ => Err(E::custom("the key does not fit")),
        }
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
            self.number(|json| json.$method(visitor))
        }
    )*};
}

impl<'de, E: Error> Deserializer<'de> for KeyDeserializer<'de, E> {
    type Error = E;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match self.text {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match &*self.text {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(E::custom("the key does not fit")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_enum(CowStrDeserializer::new(self.text))
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_bytes(self.text.as_bytes())
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        self.deserialize_bytes(visitor)
    }

    forward_to_deserialize_any! {
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
