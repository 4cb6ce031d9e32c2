//! Deserializes the next value on a tape, as serde_json would from the text.
//!
//! Doubtful input is a [`Misfit`]: numbers with a fraction or too large for an integer, `-0`, and
//! values that a type rejects. `tests/parsers.rs` checks that both parsers agree.

use serde::{
    Deserializer,
    de::{
        DeserializeSeed, EnumAccess, SeqAccess, VariantAccess, Visitor,
        value::BorrowedStrDeserializer,
    },
};
use simd_json::{Node as Token, StaticNode};

use super::{Misfit, Tokens, members::Members};
use crate::decode::shape::{TypeNames, projection::Node, selection::Selection};

/// The next value on a tape, without the fields that `node` drops.
pub(crate) struct Taped<'c, 't, 'de, 'p> {
    tokens: &'c mut Tokens<'t, 'de>,
    /// `None` if nothing is dropped below it.
    node: Option<&'p Node>,
    names: Option<TypeNames<'p>>,
}

impl<'c, 't, 'de, 'p> Taped<'c, 't, 'de, 'p> {
    /// Drops the fields that `node` drops; supplies `names` unless `None`.
    pub(crate) fn new(
        tokens: &'c mut Tokens<'t, 'de>,
        node: Option<&'p Node>,
        names: Option<TypeNames<'p>>,
    ) -> Self {
        Self {
            tokens,
            node,
            names,
        }
    }

    fn seq<V: Visitor<'de>>(
        self,
        len: usize,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let after = self.tokens.end_of(count)?;
        let value = visitor.visit_seq(Elements {
            tokens: &mut *self.tokens,
            left: len,
            node: self.node,
            names: self.names,
        })?;
        self.tokens.must_be_at(after)?;
        Ok(value)
    }

    fn map<V: Visitor<'de>>(
        self,
        len: usize,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let after = self.tokens.end_of(count)?;
        let selection = Selection::new(self.node, self.names);
        let members = Members::new(&mut *self.tokens, len, selection);
        let value = visitor.visit_map(members)?;
        self.tokens.must_be_at(after)?;
        Ok(value)
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

macro_rules! integers {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            integer(self.tokens.next()?, visitor)
        }
    )*};
}

macro_rules! texts {
    ($($method:ident)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            match self.tokens.next()? {
                Token::String(text) => visitor.visit_borrowed_str(text),
                _ => Err(Misfit),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Taped<'_, '_, 'de, '_> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.tokens.next()? {
            Token::String(text) => visitor.visit_borrowed_str(text),
            Token::Static(StaticNode::Null) => visitor.visit_unit(),
            Token::Static(StaticNode::Bool(value)) => visitor.visit_bool(value),
            number @ Token::Static(_) => integer(number, visitor),
            Token::Array { len, count } => self.seq(len, count, visitor),
            Token::Object { len, count } => self.map(len, count, visitor),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64
    }

    texts! {
        deserialize_char deserialize_str deserialize_string deserialize_identifier
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.tokens.next()? {
            Token::Static(StaticNode::U64(number)) => visitor.visit_i128(number.into()),
            Token::Static(StaticNode::I64(number)) if number != 0 => {
                visitor.visit_i128(number.into())
            }
            _ => Err(Misfit),
        }
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.tokens.next()? {
            Token::Static(StaticNode::U64(number)) => visitor.visit_u128(number.into()),
            _ => Err(Misfit),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.tokens.next()? {
            Token::Static(StaticNode::Bool(value)) => visitor.visit_bool(value),
            _ => Err(Misfit),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.tokens.next()? {
            Token::String(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            Token::Array { len, count } => self.seq(len, count, visitor),
            _ => Err(Misfit),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if matches!(self.tokens.peek()?, Token::Static(StaticNode::Null)) {
            self.tokens.skip()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.tokens.next()? {
            Token::Static(StaticNode::Null) => visitor.visit_unit(),
            _ => Err(Misfit),
        }
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
        match self.tokens.next()? {
            Token::Array { len, count } => self.seq(len, count, visitor),
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
        match self.tokens.next()? {
            Token::Object { len, count } => self.map(len, count, visitor),
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
        match self.tokens.next()? {
            Token::Object { len, count } => self.map(len, count, visitor),
            Token::Array { len, count } => self.seq(len, count, visitor),
            _ => Err(Misfit),
        }
    }

    // Nothing is dropped inside an enum, whose tag would have to be known.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        match self.tokens.next()? {
            Token::String(variant) => visitor.visit_enum(BorrowedStrDeserializer::new(variant)),
            Token::Object { len: 1, count } => {
                let after = self.tokens.end_of(count)?;
                let value = visitor.visit_enum(Variant(&mut *self.tokens))?;
                self.tokens.must_be_at(after)?;
                Ok(value)
            }
            _ => Err(Misfit),
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.tokens.skip()?;
        visitor.visit_unit()
    }
}

struct Elements<'c, 't, 'de, 'p> {
    tokens: &'c mut Tokens<'t, 'de>,
    left: usize,
    node: Option<&'p Node>,
    names: Option<TypeNames<'p>>,
}

impl<'de> SeqAccess<'de> for Elements<'_, '_, 'de, '_> {
    type Error = Misfit;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Misfit> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        seed.deserialize(Taped::new(self.tokens, self.node, self.names))
            .map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// An object with one member: the variant and its value.
struct Variant<'c, 't, 'de>(&'c mut Tokens<'t, 'de>);

impl<'de> EnumAccess<'de> for Variant<'_, '_, 'de> {
    type Error = Misfit;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Misfit> {
        let variant = seed.deserialize(Taped::new(&mut *self.0, None, None))?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_, 'de> {
    type Error = Misfit;

    fn unit_variant(self) -> Result<(), Misfit> {
        match self.0.next()? {
            Token::Static(StaticNode::Null) => Ok(()),
            _ => Err(Misfit),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Misfit> {
        seed.deserialize(Taped::new(self.0, None, None))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit> {
        Taped::new(self.0, None, None).deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        Taped::new(self.0, None, None).deserialize_struct("", fields, visitor)
    }
}
