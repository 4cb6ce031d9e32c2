//! Deserializes the next value of a text, as serde_json would.

use informer_kube_protobuf::KeyDeserializer;
use serde::{
    Deserializer,
    de::{
        DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
        value::BorrowedStrDeserializer,
    },
};

use super::{Contents, OnDemand};
use crate::decode::tape::Misfit;

macro_rules! numbers {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            self.number(visitor, |json, visitor| json.$method(visitor))
        }
    )*};
}

macro_rules! texts {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            self.text(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut OnDemand<'de> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.peek().ok_or(Misfit)? {
            b'"' => self.text(visitor),
            b'{' => self.object(visitor),
            b'[' => self.list(visitor),
            b'n' => self.deserialize_unit(visitor),
            b't' | b'f' => self.deserialize_bool(visitor),
            _ => self.number(visitor, |json, visitor| json.deserialize_any(visitor)),
        }
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    texts! { deserialize_char deserialize_str deserialize_string deserialize_identifier }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_bool(self.boolean()?)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.null()?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.peek() {
            Some(b'[') => self.list(visitor),
            _ => {
                let quoted = self.quoted()?;
                match quoted.has_escapes {
                    false => visitor.visit_borrowed_bytes(quoted.written.as_bytes()),
                    // serde_json takes half of a surrogate pair here.
                    true => Err(Misfit),
                }
            }
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.peek() {
            Some(b'n') => {
                self.null()?;
                visitor.visit_none()
            }
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.list(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.list(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.list(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.object(visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self.peek() {
            Some(b'[') => self.list(visitor),
            _ => self.object(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self.peek() {
            Some(b'{') => self.within((b'{', b'}'), |variant| visitor.visit_enum(variant)),
            _ => {
                let quoted = self.quoted()?;
                match quoted.has_escapes {
                    false => visitor.visit_enum(BorrowedStrDeserializer::new(quoted.written)),
                    true => Err(Misfit),
                }
            }
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.skip()?;
        visitor.visit_unit()
    }
}

impl<'de> SeqAccess<'de> for Contents<'_, 'de> {
    type Error = Misfit;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Misfit> {
        match self.advance(b']')? {
            true => seed.deserialize(&mut *self.rest).map(Some),
            false => Ok(None),
        }
    }
}

impl<'de> MapAccess<'de> for Contents<'_, 'de> {
    type Error = Misfit;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Misfit> {
        if !self.advance(b'}')? {
            return Ok(None);
        }
        let quoted = self.rest.quoted()?;
        let key = match quoted.has_escapes {
            false => seed.deserialize(KeyDeserializer::new(quoted.written)),
            true => seed.deserialize(KeyDeserializer::new(quoted.unescaped()?)),
        }?;
        self.rest.take(b':')?;
        Ok(Some(key))
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Misfit> {
        seed.deserialize(&mut *self.rest)
    }
}

/// An object with one member: the variant and its value.
impl<'de> EnumAccess<'de> for Contents<'_, 'de> {
    type Error = Misfit;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Misfit> {
        let variant = seed.deserialize(&mut *self.rest)?;
        self.rest.take(b':')?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Contents<'_, 'de> {
    type Error = Misfit;

    fn unit_variant(self) -> Result<(), Misfit> {
        serde::Deserialize::deserialize(self.rest)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Misfit> {
        seed.deserialize(self.rest)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit> {
        self.rest.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.rest.deserialize_struct("", fields, visitor)
    }
}
