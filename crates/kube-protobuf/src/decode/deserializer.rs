//! The serde deserializer of one value.

use serde::de::Visitor;
use serde::forward_to_deserialize_any;
use serde_json::Value as Tree;

use super::access::{List, Map};
use super::elements::{Elements, Entries};
use super::ignored::ignored_by;
use super::key::KeyDeserializer;
use super::members::Members;
use super::parsed::Parsed;
use super::special;
use super::value::{Form, Value, refuse_json_only};
use crate::error::{Error, Result};
use crate::schema::Kind;
use crate::wire;

impl<'de> serde::Deserializer<'de> for Value<'_, 'de> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match (self.form, self.kind) {
            (Form::Single, Kind::Json) if self.dropped.is_none() => {
                special::json(self.rest, |json| {
                    serde::Deserializer::deserialize_any(json, visitor)
                })
            }
            _ => self.visit(visitor),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.is_null()? {
            true => self.skip().and_then(|()| visitor.visit_none()),
            false => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match (self.form, self.kind) {
            (Form::Single, Kind::Str) => visitor.visit_borrowed_str(wire::text(self.rest)?),
            (Form::Single, Kind::Json) => special::json(self.rest, |json| {
                serde::Deserializer::deserialize_str(json, visitor)
            }),
            _ => self.visit(visitor),
        }
    }

    #[inline]
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match (self.form, self.kind) {
            (Form::Single, Kind::F64) => visitor.visit_f64(wire::double(self.rest)?),
            _ => self.visit(visitor),
        }
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_f64(visitor)
    }

    // The visitor's wish predicts the kind, so that the common cases need no table of jumps.

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match (self.form, self.kind) {
            (Form::Single, Kind::Message(entry)) => {
                let mut members = self.members(entry)?;
                members.leave_out(self.dropped);
                members.skip_ignored(ignored_by::<V>(entry, fields));
                visitor.visit_map(Map::Members(&mut members))
            }
            _ => self.visit(visitor),
        }
    }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match (self.form, self.kind) {
            (Form::Single, Kind::Bool) => visitor.visit_bool(wire::varint(self.rest)? != 0),
            _ => self.visit(visitor),
        }
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.form {
            Form::List { number, wire } => self.visit_list(number, wire, visitor),
            Form::NoList => visitor.visit_seq(List::Elements(&mut Elements::none(&mut &[][..]))),
            _ => self.visit(visitor),
        }
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.form {
            Form::Map { number } => self.visit_entries(number, visitor),
            Form::NoMap => visitor.visit_map(Map::Entries(&mut Entries::none(&mut &[][..]))),
            _ => self.visit(visitor),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        refuse_json_only(name)?;
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
        match (self.form, self.kind) {
            (Form::Single, Kind::Json) => {
                let tree = special::json_tree(self.rest)?;
                let mut nothing: &[u8] = &[];
                let value = Value::tree(Some(&tree), &mut nothing);
                value.deserialize_enum(name, variants, visitor)
            }
            (Form::Single, _) => match self.read()? {
                Parsed::Str(text) => {
                    KeyDeserializer::new(text).deserialize_enum(name, variants, visitor)
                }
                Parsed::Text(text) => {
                    KeyDeserializer::new(text).deserialize_enum(name, variants, visitor)
                }
                Parsed::Time(text) => KeyDeserializer::new(text.as_str().to_owned())
                    .deserialize_enum(name, variants, visitor),
                Parsed::Message(entry, message, depth) => {
                    let mut members = Members::new(entry.message(), message, depth);
                    Map::Members(&mut members).deserialize_enum(name, variants, visitor)
                }
                other => other.visit(None, visitor),
            },
            (Form::Tree(Tree::String(text)), _) => {
                KeyDeserializer::new(text.clone()).deserialize_enum(name, variants, visitor)
            }
            (Form::Text(text), _) => {
                KeyDeserializer::new(text).deserialize_enum(name, variants, visitor)
            }
            (Form::Tree(Tree::Object(object)), _) => {
                Map::object(object, None).deserialize_enum(name, variants, visitor)
            }
            _ => self.visit(visitor),
        }
    }

    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.skip()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 char bytes byte_buf unit unit_struct
        tuple tuple_struct identifier
    }
}
