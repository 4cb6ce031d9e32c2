//! A single value that was read, before a visitor sees it.
//!
//! Reading depends on no type of the caller. What does is compiled once for each visitor of a
//! program, so it is no more than a call for each kind of value.

use serde::de::Visitor;
use serde_json::Value as Tree;

use super::access::{List, Map};
use super::elements::Elements;
use super::members::Members;
use crate::error::Result;
use crate::schema::Kind;
use crate::text::TimeText;
use crate::wire;

/// A single value.
pub(super) enum Parsed<'de> {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Str(&'de str),
    Time(TimeText),
    Text(String),
    Members(Members<'de>),
    /// Elements of the field with this number, from behind the tag of the first one on; their
    /// depth.
    Elements(Kind, u32, &'de [u8], u8),
    NoElements,
    /// A JSON text.
    Tree(Tree),
}

impl<'de> Parsed<'de> {
    pub(super) fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let mut nothing: &[u8] = &[];
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Signed(number) => visitor.visit_i64(number),
            Self::Unsigned(number) => visitor.visit_u64(number),
            Self::Float(number) => visitor.visit_f64(number),
            Self::Str(text) => visitor.visit_borrowed_str(text),
            Self::Time(text) => visitor.visit_str(text.as_str()),
            Self::Text(text) => visitor.visit_string(text),
            Self::Members(mut members) => visitor.visit_map(Map::Members(&mut members)),
            Self::Elements(kind, number, mut rest, depth) => {
                let mut elements = Elements::new(&mut rest, kind, number, wire::BYTES, depth)?;
                let value = visitor.visit_seq(List::Elements(&mut elements))?;
                elements.finish().map(|()| value)
            }
            Self::NoElements => {
                visitor.visit_seq(List::Elements(&mut Elements::none(&mut nothing)))
            }
            Self::Tree(tree) => visit_tree(&tree, visitor),
        }
    }
}

/// Visits a part of a JSON text. serde_json has bounded its depth.
pub(super) fn visit_tree<'de, V: Visitor<'de>>(tree: &Tree, visitor: V) -> Result<V::Value> {
    match tree {
        Tree::Null => visitor.visit_unit(),
        Tree::Bool(value) => visitor.visit_bool(*value),
        Tree::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => visitor.visit_u64(number),
            (_, Some(number)) => visitor.visit_i64(number),
            _ => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
        },
        Tree::String(text) => visitor.visit_str(text),
        Tree::Array(elements) => visitor.visit_seq(List::Array(elements.iter())),
        Tree::Object(object) => visitor.visit_map(Map::object(object)),
    }
}
