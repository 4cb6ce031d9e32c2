//! How a visitor takes members, elements and entries: the accesses of serde.
//!
//! There is one access for all maps and one for all lists, so that the code of a visitor is
//! compiled once for each and not once for each form on the wire.

use std::any::type_name;
use std::marker::PhantomData;

use serde::Deserializer as _;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map as Object, Value as Tree};

use super::dropped::{Within, within};
use super::elements::{Elements, Entries};
use super::key::KeyDeserializer;
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
        dropped: Within<'de>,
        /// What is dropped within the next value.
        below: Within<'de>,
    },
}

impl<'m, 'de> Map<'m, '_, 'de> {
    pub(super) fn object(object: &'m Object<String, Tree>, dropped: Within<'de>) -> Self {
        Self::Object {
            entries: object.iter(),
            next: None,
            dropped,
            below: None,
        }
    }
}

impl<'de> Map<'_, '_, 'de> {
    /// Deserializes an enum: the only member is the variant and its value.
    pub(super) fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let value = MapAccessDeserializer::new(&mut self).deserialize_enum(name, variants, visitor);
        let value = value?;
        match self.next_key::<IgnoredAny>()? {
            Some(_) => Err(serde::de::Error::custom("more than one variant of an enum")),
            None => Ok(value),
        }
    }
}

impl<'m, 'de> MapAccess<'de> for Map<'m, '_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let key = match self {
            Self::Members(members) => members.next_key()?,
            Self::Entries(entries) => entries.next_key()?,
            Self::Object {
                entries,
                next,
                dropped,
                below,
            } => {
                let kept = |(key, value): (&'m String, &'m Tree)| {
                    within(*dropped, key).map(|within| (key, value, within))
                };
                let Some((key, value, within)) = entries.find_map(kept) else {
                    return Ok(None);
                };
                (*next, *below) = (Some(value), within);
                let key = KeyDeserializer::new(key.clone());
                return seed.deserialize(key).map(Some);
            }
        };
        match key {
            Some(key) => seed.deserialize(KeyDeserializer::new(key)).map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let mut zero = ZERO;
        let (value, segment) = match self {
            Self::Members(members) => {
                if is_ignored_any::<S>() {
                    members.remember_ignored();
                }
                members.next_value(&mut zero)?
            }
            Self::Entries(entries) => entries.next_value(&mut zero),
            Self::Object { next, below, .. } => {
                let mut value = Value::tree(*next, &mut zero);
                value.dropped = *below;
                (value, None)
            }
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

/// Whether a value is taken as `IgnoredAny`, which takes any value and keeps none.
#[inline]
pub(super) fn is_ignored_any<S>() -> bool {
    type_name::<S>() == type_name::<PhantomData<IgnoredAny>>()
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
        if self.is_plain() {
            self.pending = self.next()?;
            return Ok(self.pending.map(|pending| pending.field.name));
        }
        self.next_kept_key()
    }

    /// The next key of a message with supplied names or dropped fields.
    fn next_kept_key(&mut self) -> Result<Option<&'static str>> {
        loop {
            self.pending = match self.next_supplied() {
                None => self.next()?,
                supplied => supplied,
            };
            let Some(pending) = &self.pending else {
                return Ok(None);
            };
            let Pending { field, source } = *pending;
            if !self.may_be_dropped(pending) {
                self.within = None;
                return Ok(Some(field.name));
            }
            match within(self.dropped, field.name) {
                Some(within) => self.within = within,
                None if matches!(source, Source::Supplied(_)) => self.within = None,
                None => {
                    if let Source::Wire(wire) = source {
                        let depth = self.depth;
                        Value::of_field(self.rest(), field, wire, depth).skip()?;
                    }
                    continue;
                }
            }
            return Ok(Some(field.name));
        }
    }

    #[inline]
    fn next_value<'a>(
        &'a mut self,
        zero: &'a mut &'de [u8],
    ) -> Result<(Value<'a, 'de>, Option<Place<'de>>)> {
        let Some(Pending { field, source }) = self.pending.take() else {
            return Err(serde::de::Error::custom("a value before its key"));
        };
        let within = self.within;
        let mut value = match source {
            Source::Wire(wire) => {
                let depth = self.depth;
                Value::of_field(self.rest(), field, wire, depth)
            }
            Source::Missing => Value::missing(zero, field, self.depth),
            Source::Supplied(index) => {
                let name = self.names.map(|names| names[index]);
                Value::text(name.unwrap_or_default(), zero)
            }
        };
        value.dropped = within;
        Ok((value, Some(Place::Field(field.name))))
    }
}

impl<'de> Entries<'_, 'de> {
    #[inline]
    fn next_key(&mut self) -> Result<Option<&'de str>> {
        while self.advance()? {
            if let Some(within) = within(self.dropped, self.key) {
                self.within = within;
                return Ok(Some(self.key));
            }
        }
        Ok(None)
    }

    #[inline]
    fn next_value<'a>(&mut self, rest: &'a mut &'de [u8]) -> (Value<'a, 'de>, Option<Place<'de>>) {
        *rest = self.value.unwrap_or(ZERO);
        let mut value = Value::single(rest, self.kind, self.depth);
        value.dropped = self.within;
        (value, Some(Place::Key(self.key)))
    }
}

/// The sources of a sequence for a visitor.
pub(super) enum List<'m, 'a, 'de> {
    Elements(&'m mut Elements<'a, 'de>),
    /// An array of a JSON text.
    Array(std::slice::Iter<'m, Tree>, Within<'de>),
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
                let dropped = elements.dropped;
                let mut value = Value::single(elements.rest(), kind, depth);
                value.dropped = dropped;
                (value, Some(index))
            }
            Self::Array(elements, dropped) => match elements.next() {
                Some(element) => {
                    let mut value = Value::tree(Some(element), &mut zero);
                    value.dropped = *dropped;
                    (value, None)
                }
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
            Self::Array(elements, _) => Some(elements.len()),
        }
    }
}

impl<'de> Parsed<'de> {
    pub(super) fn visit<V: Visitor<'de>>(
        self,
        dropped: Within<'de>,
        visitor: V,
    ) -> Result<V::Value> {
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
            Self::Message(entry, message, depth) => {
                let mut members = Members::new(entry.message(), message, depth);
                members.leave_out(dropped);
                visitor.visit_map(Map::Members(&mut members))
            }
            Self::Elements(kind, number, mut rest, depth) => {
                let mut elements = Elements::new(&mut rest, kind, number, wire::BYTES, depth)?;
                elements.dropped = dropped;
                let value = visitor.visit_seq(List::Elements(&mut elements))?;
                elements.finish().map(|()| value)
            }
            Self::NoElements => {
                visitor.visit_seq(List::Elements(&mut Elements::none(&mut nothing)))
            }
            Self::Tree(tree) => visit_tree(&tree, dropped, visitor),
        }
    }
}

/// Visits a part of a JSON text. serde_json has bounded its depth.
pub(super) fn visit_tree<'de, V: Visitor<'de>>(
    tree: &Tree,
    dropped: Within<'de>,
    visitor: V,
) -> Result<V::Value> {
    match tree {
        Tree::Null => visitor.visit_unit(),
        Tree::Bool(value) => visitor.visit_bool(*value),
        Tree::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => visitor.visit_u64(number),
            (_, Some(number)) => visitor.visit_i64(number),
            _ => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
        },
        Tree::String(text) => visitor.visit_str(text),
        Tree::Array(elements) => visitor.visit_seq(List::Array(elements.iter(), dropped)),
        Tree::Object(object) => visitor.visit_map(Map::object(object, dropped)),
    }
}
