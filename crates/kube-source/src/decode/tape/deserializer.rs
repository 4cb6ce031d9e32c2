//! Deserializes the next value on a tape, as serde_json would from the text.
//!
//! Doubtful input is a [`Misfit`]: numbers with a fraction or too large for an integer, `-0`, and
//! values that a type rejects. `tests/parsers.rs` checks that both parsers agree.

use informer_kube_protobuf::KeyDeserializer;
use serde::{
    Deserializer,
    de::{
        DeserializeSeed, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
        value::BorrowedStrDeserializer,
    },
};
use simd_json::{Node as Token, StaticNode};

use super::{Misfit, Tokens};

/// The elements of a list, or the members of an object, that are left.
struct Contents<'c, 't, 'de> {
    tokens: &'c mut Tokens<'t, 'de>,
    left: usize,
}

impl<'t, 'de> Tokens<'t, 'de> {
    /// Visits the `len` elements or members in the next `count` tokens. A visitor that leaves some
    /// of them unread has rejected them.
    #[inline]
    fn contents<R>(
        &mut self,
        len: usize,
        count: usize,
        visit: impl FnOnce(Contents<'_, 't, 'de>) -> Result<R, Misfit>,
    ) -> Result<R, Misfit> {
        let after = self.0.len().checked_sub(count).ok_or(Misfit)?;
        let value = visit(Contents {
            tokens: &mut *self,
            left: len,
        })?;
        match self.0.len() == after {
            true => Ok(value),
            false => Err(Misfit),
        }
    }
}

/// Visits an integer as serde_json does. A signed zero was `-0`, which is not an integer.
fn integer<'de, V: Visitor<'de>>(token: Token<'de>, visitor: V) -> Result<V::Value, Misfit> {
    match token {
        Token::Static(StaticNode::U64(number)) => visitor.visit_u64(number),
        Token::Static(StaticNode::I64(number)) if number != 0 => visitor.visit_i64(number),
        _ => Err(Misfit),
    }
}

macro_rules! scalars {
    ($($method:ident: $token:pat => $visit:ident($($value:expr)?);)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            match self.next()? {
                $token => visitor.$visit($($value)?),
                _ => Err(Misfit),
            }
        }
    )*};
}

macro_rules! integers {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            integer(self.next()?, visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Tokens<'_, 'de> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.next()? {
            Token::String(text) => visitor.visit_borrowed_str(text),
            Token::Static(StaticNode::Null) => visitor.visit_unit(),
            Token::Static(StaticNode::Bool(value)) => visitor.visit_bool(value),
            number @ Token::Static(_) => integer(number, visitor),
            Token::Array { len, count } => {
                self.contents(len, count, |elements| visitor.visit_seq(elements))
            }
            Token::Object { len, count } => {
                self.contents(len, count, |members| visitor.visit_map(members))
            }
        }
    }

    // A visitor of integers of 128 bits takes smaller ones too.
    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    scalars! {
        deserialize_char: Token::String(text) => visit_borrowed_str(text);
        deserialize_str: Token::String(text) => visit_borrowed_str(text);
        deserialize_string: Token::String(text) => visit_borrowed_str(text);
        deserialize_identifier: Token::String(text) => visit_borrowed_str(text);
        deserialize_bool: Token::Static(StaticNode::Bool(value)) => visit_bool(value);
        deserialize_unit: Token::Static(StaticNode::Null) => visit_unit();
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.next()? {
            Token::String(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            Token::Array { len, count } => {
                self.contents(len, count, |elements| visitor.visit_seq(elements))
            }
            _ => Err(Misfit),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if matches!(self.peek()?, Token::Static(StaticNode::Null)) {
            self.skip()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_unit(visitor)
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
        match self.next()? {
            Token::Array { len, count } => {
                self.contents(len, count, |elements| visitor.visit_seq(elements))
            }
            _ => Err(Misfit),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.next()? {
            Token::Object { len, count } => {
                self.contents(len, count, |members| visitor.visit_map(members))
            }
            _ => Err(Misfit),
        }
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self.next()? {
            Token::Object { len, count } => {
                self.contents(len, count, |members| visitor.visit_map(members))
            }
            Token::Array { len, count } => {
                self.contents(len, count, |elements| visitor.visit_seq(elements))
            }
            _ => Err(Misfit),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self.next()? {
            Token::String(variant) => visitor.visit_enum(BorrowedStrDeserializer::new(variant)),
            Token::Object { len: 1, count } => {
                self.contents(1, count, |variant| visitor.visit_enum(variant))
            }
            _ => Err(Misfit),
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.skip()?;
        visitor.visit_unit()
    }
}

impl Contents<'_, '_, '_> {
    /// Whether one more is left, which is read next.
    #[inline]
    fn advance(&mut self) -> bool {
        let left = self.left.checked_sub(1);
        self.left = left.unwrap_or_default();
        left.is_some()
    }
}

impl<'de> SeqAccess<'de> for Contents<'_, '_, 'de> {
    type Error = Misfit;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Misfit> {
        match self.advance() {
            true => seed.deserialize(&mut *self.tokens).map(Some),
            false => Ok(None),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> MapAccess<'de> for Contents<'_, '_, 'de> {
    type Error = Misfit;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Misfit> {
        if !self.advance() {
            return Ok(None);
        }
        let key = KeyDeserializer::new(self.tokens.key()?);
        seed.deserialize(key).map(Some)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Misfit> {
        seed.deserialize(&mut *self.tokens)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// An object with one member: the variant and its value.
impl<'de> EnumAccess<'de> for Contents<'_, '_, 'de> {
    type Error = Misfit;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Misfit> {
        let variant = seed.deserialize(&mut *self.tokens)?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Contents<'_, '_, 'de> {
    type Error = Misfit;

    fn unit_variant(self) -> Result<(), Misfit> {
        serde::Deserialize::deserialize(self.tokens)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Misfit> {
        seed.deserialize(self.tokens)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit> {
        self.tokens.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.tokens.deserialize_struct("", fields, visitor)
    }
}
