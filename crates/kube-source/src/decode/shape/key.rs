//! Deserializes a text that was read already: a key, or a type name that is supplied.
//!
//! serde's own deserializer of strings rejects options, newtypes and numbers, which keys of maps
//! and type fields may be. Tested through [`super`].

use std::marker::PhantomData;

use serde::{
    Deserializer,
    de::{
        Error, IntoDeserializer, Visitor,
        value::{BorrowedStrDeserializer, StrDeserializer},
    },
    forward_to_deserialize_any,
};

use crate::decode::tape::Misfit;

/// Deserializes a string also as a number, an option or a newtype, as keys of maps may be.
pub(crate) struct TextDeserializer<'t, E> {
    text: &'t str,
    error: PhantomData<E>,
}

impl<'t, E> TextDeserializer<'t, E> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            error: PhantomData,
        }
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
            match self.text.parse() {
                Ok(number) => visitor.$visit(number),
                Err(_) => visitor.visit_str(self.text),
            }
        }
    )*};
}

impl<'de, E: Error> Deserializer<'de> for TextDeserializer<'_, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_str(self.text)
    }

    parsed! {
        deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32
        deserialize_i64 visit_i64 deserialize_u8 visit_u8 deserialize_u16 visit_u16
        deserialize_u32 visit_u32 deserialize_u64 visit_u64 deserialize_bool visit_bool
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
        let access: StrDeserializer<'_, E> = self.text.into_deserializer();
        visitor.visit_enum(access)
    }

    forward_to_deserialize_any! {
        i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct
        map struct identifier ignored_any
    }
}

/// The key of a map on a tape. It deserializes as in serde_json, or is doubtful.
pub(crate) struct Key<'de>(pub(crate) &'de str);

macro_rules! integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            if !is_integer(self.0) {
                return Err(Misfit);
            }
            match self.0.starts_with('-') {
                true => visitor.visit_i64(self.0.parse().map_err(|_| Misfit)?),
                false => visitor.visit_u64(self.0.parse().map_err(|_| Misfit)?),
            }
        }
    )*};
}

/// An integer in the form of JSON; `-0` is not one.
fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_canonical = text == "0" || !digits.starts_with('0');
    is_canonical && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Misfit;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_borrowed_str(self.0)
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(Misfit),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_borrowed_bytes(self.0.as_bytes())
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_bytes(visitor)
    }

    /// Doubtful: floats, and integers of 128 bits.
    fn deserialize_f64<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Misfit> {
        Err(Misfit)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Misfit> {
        Err(Misfit)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Misfit> {
        Err(Misfit)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Misfit> {
        Err(Misfit)
    }

    forward_to_deserialize_any! {
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
