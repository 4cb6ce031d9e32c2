//! How a visitor takes members, elements and entries: the accesses of serde.
//!
//! There is one access for all maps and one for all lists, so that the code of a visitor is
//! compiled once for each and not once for each form on the wire.

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map as Object, Value as Tree};

use super::elements::{Elements, Entries};
use super::members::{Members, Pending, Source};
use super::parsed::Parsed;
use super::value::Value;
use crate::error::{Error, Result, Segment};
use crate::wire;

/// The wire form of a Go value that the wire lacks: zero, an empty string or message.
const ZERO: &[u8] = &[0; 8];

/// The sources of a map for a visitor.
pub(super) enum Map<'m, 'a, 'de> {
    Members(&'m mut Members<'de>),
    Entries(&'m mut Entries<'a, 'de>),
    /// An object of a JSON text.
    Object {
        entries: serde_json::map::Iter<'m>,
        next: Option<&'m Tree>,
    },
}

impl<'m> Map<'m, '_, '_> {
    pub(super) fn object(object: &'m Object<String, Tree>) -> Self {
        Self::Object {
            entries: object.iter(),
            next: None,
        }
    }
}

impl<'de> MapAccess<'de> for Map<'_, '_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let key = match self {
            Self::Members(members) => members.next_key()?,
            Self::Entries(entries) => entries.next_key()?,
            Self::Object { entries, next } => {
                let Some((key, value)) = entries.next() else {
                    return Ok(None);
                };
                *next = Some(value);
                return seed.deserialize(StrDeserializer::new(key)).map(Some);
            }
        };
        match key {
            Some(key) => seed
                .deserialize(BorrowedStrDeserializer::new(key))
                .map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let mut zero = ZERO;
        let (value, segment) = match self {
            Self::Members(members) => members.next_value(&mut zero)?,
            Self::Entries(entries) => entries.next_value(&mut zero),
            Self::Object { next, .. } => (Value::tree(*next, &mut zero), None),
        };
        let mut value = seed.deserialize(value);
        if value.is_err()
            && let Some(segment) = segment
        {
            Error::add(&mut value, || segment.to_segment());
        }
        value
    }
}

/// The place of a value, which an error names.
#[derive(Clone, Copy)]
pub(super) enum Place<'de> {
    Field(&'static str),
    Key(&'de str),
}

impl Place<'_> {
    #[cold]
    fn to_segment(self) -> Segment {
        match self {
            Self::Field(name) => Segment::Field(name),
            Self::Key(key) => Segment::Key(key.to_owned()),
        }
    }
}

impl<'de> Members<'de> {
    #[inline]
    fn next_key(&mut self) -> Result<Option<&'static str>> {
        self.pending = self.next()?;
        Ok(self.pending.map(|pending| pending.field.name))
    }

    #[inline]
    fn next_value<'a>(
        &'a mut self,
        zero: &'a mut &'de [u8],
    ) -> Result<(Value<'a, 'de>, Option<Place<'de>>)> {
        let Some(Pending { field, source }) = self.pending.take() else {
            return Err(serde::de::Error::custom("a value before its key"));
        };
        let value = match source {
            Source::Wire(wire) => {
                let depth = self.depth;
                Value::of_field(self.rest(), field, wire, depth)
            }
            Source::Missing => Value::missing(zero, field, self.depth),
        };
        Ok((value, Some(Place::Field(field.name))))
    }
}

impl<'de> Entries<'_, 'de> {
    #[inline]
    fn next_key(&mut self) -> Result<Option<&'de str>> {
        Ok(self.advance()?.then_some(self.key))
    }

    #[inline]
    fn next_value<'a>(&mut self, rest: &'a mut &'de [u8]) -> (Value<'a, 'de>, Option<Place<'de>>) {
        *rest = self.value.unwrap_or(ZERO);
        let value = Value::single(rest, self.kind, self.depth);
        (value, Some(Place::Key(self.key)))
    }
}

/// The sources of a sequence for a visitor.
pub(super) enum List<'m, 'a, 'de> {
    Elements(&'m mut Elements<'a, 'de>),
    /// An array of a JSON text.
    Array(std::slice::Iter<'m, Tree>),
}

impl<'de> SeqAccess<'de> for List<'_, '_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let mut zero = ZERO;
        let (value, index) = match self {
            Self::Elements(elements) => {
                if !elements.advance()? {
                    return Ok(None);
                }
                let (index, kind, depth) = (elements.index, elements.kind, elements.depth);
                elements.index += 1;
                (Value::single(elements.rest(), kind, depth), Some(index))
            }
            Self::Array(elements) => match elements.next() {
                Some(element) => (Value::tree(Some(element), &mut zero), None),
                None => return Ok(None),
            },
        };
        let mut value = seed.deserialize(value);
        if let Some(index) = index {
            Error::add(&mut value, || Segment::Index(index));
        }
        value.map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        match self {
            Self::Elements(elements) => Some(elements.count.saturating_sub(elements.index)),
            Self::Array(elements) => Some(elements.len()),
        }
    }
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
