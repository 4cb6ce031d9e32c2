//! Deserializes a text we already hold: a key that was looked at, a type name we supply.
//!
//! serde's own deserializer of strings refuses options, newtypes and numbers, all of which keys of
//! maps and type fields may be. Tested through [`super::shape`].

use std::marker::PhantomData;

use serde::{
    Deserializer,
    de::{Error, IntoDeserializer, Visitor, value::StrDeserializer},
    forward_to_deserialize_any,
};

/// A string that will also be a number, an option or a newtype: keys of maps may be any of these.
pub(super) struct TextDeserializer<'t, E> {
    text: &'t str,
    error: PhantomData<E>,
}

impl<'t, E> TextDeserializer<'t, E> {
    pub(super) fn new(text: &'t str) -> Self {
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
