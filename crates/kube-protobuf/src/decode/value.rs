//! One value: a scalar, a message, a list or a map.

use serde::de::Visitor;
use serde_json::Value as Tree;

use super::access::{List, Map, visit_tree};
use super::choice::{self, Chosen};
use super::dropped::Within;
use super::elements::{Elements, Entries, skip_all};
use super::members::Members;
use super::parsed::Parsed;
use super::special;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{Field, Kind, Shape};
use crate::wire;

/// A value at the front of `rest`. Its deserialization moves `rest` behind it.
pub(super) struct Value<'a, 'de> {
    pub(super) rest: &'a mut &'de [u8],
    pub(super) kind: Kind,
    pub(super) form: Form<'a, 'de>,
    /// The depth of the message, list or map around the value.
    depth: u8,
    pub(super) dropped: Within<'de>,
}

/// How a value is written.
#[derive(Clone, Copy)]
pub(super) enum Form<'a, 'de> {
    Single,
    /// Elements of the field with this number; the tag of the first one is read.
    List {
        number: u32,
        wire: u8,
    },
    /// Entries of the field with this number; the tag of the first one is read.
    Map {
        number: u32,
    },
    /// A part of a JSON text.
    Tree(&'a Tree),
    /// A text that is supplied.
    Text(&'de str),
    /// The wire lacks the pointer.
    Null,
    /// The wire lacks all elements: null, and an empty list for a visitor that wants one.
    NoList,
    /// The wire lacks all entries: null, and an empty map for a visitor that wants one.
    NoMap,
}

impl<'a, 'de> Value<'a, 'de> {
    /// The value of a field whose tag is read.
    #[inline]
    pub(super) fn of_field(rest: &'a mut &'de [u8], field: &Field, wire: u8, depth: u8) -> Self {
        let number = field.number;
        let form = match field.shape {
            Shape::Value | Shape::Pointer | Shape::Inline => Form::Single,
            Shape::List => Form::List { number, wire },
            Shape::Map => Form::Map { number },
        };
        Self {
            rest,
            kind: field.kind,
            form,
            depth,
            dropped: None,
        }
    }

    /// The value of a field that the wire lacks; `zero` is what a zero would be on the wire.
    pub(super) fn missing(zero: &'a mut &'de [u8], field: &Field, depth: u8) -> Self {
        let form = match (field.shape, field.kind) {
            (Shape::List, _) => Form::NoList,
            (Shape::Map, _) => Form::NoMap,
            (Shape::Pointer, _) | (_, Kind::Bytes) => Form::Null,
            (_, Kind::Names) => Form::NoList,
            _ => Form::Single,
        };
        Self {
            rest: zero,
            kind: field.kind,
            form,
            depth,
            dropped: None,
        }
    }

    /// One element of a list, or the value of an entry.
    #[inline]
    pub(super) fn single(rest: &'a mut &'de [u8], kind: Kind, depth: u8) -> Self {
        Self {
            rest,
            kind,
            form: Form::Single,
            depth,
            dropped: None,
        }
    }

    /// A part of a JSON text, which is not on the wire; null if there is none.
    pub(super) fn tree(tree: Option<&'a Tree>, rest: &'a mut &'de [u8]) -> Self {
        Self {
            rest,
            kind: Kind::Json,
            form: tree.map_or(Form::Null, Form::Tree),
            // serde_json has bounded it.
            depth: 0,
            dropped: None,
        }
    }

    /// A text that is not on the wire.
    pub(super) fn text(text: &'de str, rest: &'a mut &'de [u8]) -> Self {
        Self {
            rest,
            kind: Kind::Str,
            form: Form::Text(text),
            depth: 0,
            dropped: None,
        }
    }

    /// The depth of what is in this value.
    fn inner_depth(&self) -> Result<u8> {
        deeper(self.depth, self.rest)
    }

    /// The members of a message, without what is dropped.
    pub(super) fn members(&mut self, entry: &'static crate::schema::Entry) -> Result<Members<'de>> {
        let depth = self.inner_depth()?;
        let message = wire::bytes(self.rest)?;
        Ok(Members::new(entry.message(), message, depth))
    }

    /// Reads a single value.
    pub(super) fn read(self) -> Result<Parsed<'de>> {
        Ok(match self.kind {
            Kind::Bool => Parsed::Bool(wire::varint(self.rest)? != 0),
            Kind::I32 => Parsed::Signed(i64::from(wire::varint(self.rest)? as i32)),
            Kind::I64 => Parsed::Signed(wire::varint(self.rest)? as i64),
            Kind::F64 => special::number(wire::double(self.rest)?),
            Kind::Str => Parsed::Str(wire::text(self.rest)?),
            Kind::Message(entry) => {
                let depth = self.inner_depth()?;
                Parsed::Message(entry, wire::bytes(self.rest)?, depth)
            }
            Kind::Names => {
                let depth = self.inner_depth()?;
                read_names(wire::bytes(self.rest)?, depth)?
            }
            Kind::Choice(entry, rule) => {
                let depth = self.inner_depth()?;
                let message = wire::bytes(self.rest)?;
                read_chosen(choice::choose(entry.message(), rule, message)?, depth)?
            }
            Kind::Json => Parsed::Tree(special::json_tree(self.rest)?),
            _ => return special::read_text(self.kind, self.rest),
        })
    }

    pub(super) fn visit_list<V: Visitor<'de>>(
        self,
        number: u32,
        wire: u8,
        visitor: V,
    ) -> Result<V::Value> {
        let depth = self.inner_depth()?;
        let mut elements = Elements::new(self.rest, self.kind, number, wire, depth)?;
        elements.dropped = self.dropped;
        let value = visitor.visit_seq(List::Elements(&mut elements))?;
        elements.finish().map(|()| value)
    }

    pub(super) fn visit_entries<V: Visitor<'de>>(
        self,
        number: u32,
        visitor: V,
    ) -> Result<V::Value> {
        let depth = self.inner_depth()?;
        let mut entries = Entries::new(self.rest, self.kind, number, depth);
        entries.dropped = self.dropped;
        let value = visitor.visit_map(Map::Entries(&mut entries))?;
        entries.finish().map(|()| value)
    }

    /// Visits any form. JSON in a field is a tree here.
    pub(super) fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let dropped = self.dropped;
        match self.form {
            Form::Single => self.read()?.visit(dropped, visitor),
            Form::List { number, wire } => self.visit_list(number, wire, visitor),
            Form::Map { number } => self.visit_entries(number, visitor),
            Form::Tree(tree) => visit_tree(tree, dropped, visitor),
            Form::Text(text) => visitor.visit_borrowed_str(text),
            Form::Null | Form::NoList | Form::NoMap => visitor.visit_unit(),
        }
    }

    /// Whether JSON has null here.
    #[inline]
    pub(super) fn is_null(&self) -> Result<bool> {
        match (self.form, self.kind) {
            (Form::Null | Form::NoList | Form::NoMap, _) => Ok(true),
            (Form::Tree(tree), _) => Ok(tree.is_null()),
            (Form::Single, Kind::Json) => special::is_json_null(self.rest),
            (Form::Single, Kind::Time | Kind::MicroTime | Kind::Choice(..)) => {
                self.is_null_message()
            }
            _ => Ok(false),
        }
    }

    fn is_null_message(&self) -> Result<bool> {
        let mut ahead = *self.rest;
        let message = wire::bytes(&mut ahead)?;
        match self.kind {
            Kind::Choice(entry, rule) => {
                choice::choose(entry.message(), rule, message).map(|chosen| chosen.is_null())
            }
            kind => special::is_zero_time(kind, message),
        }
    }

    pub(super) fn skip(self) -> Result<()> {
        match self.form {
            Form::Single => wire::skip(self.rest, self.kind.wire()),
            Form::List { number, wire } => skip_all(self.rest, number, wire),
            Form::Map { number } => skip_all(self.rest, number, wire::BYTES),
            Form::Tree(_) | Form::Text(_) | Form::Null | Form::NoList | Form::NoMap => Ok(()),
        }
    }
}

/// The depth of what is in a value at the front of `rest`.
#[inline]
pub(super) fn deeper(depth: u8, rest: &[u8]) -> Result<u8> {
    match depth < wire::MAX_DEPTH {
        true => Ok(depth + 1),
        false => Err(Error::at(ErrorKind::TooDeep, rest)),
    }
}

/// Reads the strings of a message that contains nothing else.
fn read_names(mut items: &[u8], depth: u8) -> Result<Parsed<'_>> {
    let mut found = None;
    while !items.is_empty() {
        let start = items;
        match wire::tag(&mut items)? {
            (1, wire::BYTES) => {
                if found.replace(items).is_some() {
                    return Err(Error::at(ErrorKind::Repeated, start));
                }
                skip_all(&mut items, 1, wire::BYTES)?;
            }
            (1, found) => return Err(Error::wire_type(wire::BYTES, found, start)),
            (_, wire) => wire::skip(&mut items, wire)?,
        }
    }
    Ok(match found {
        Some(items) => Parsed::Elements(Kind::Str, 1, items, depth),
        None => Parsed::NoElements,
    })
}

/// Reads the field that JSON has; `depth` is the depth of the message.
pub(super) fn read_chosen(chosen: Chosen<'_>, depth: u8) -> Result<Parsed<'_>> {
    match chosen {
        Chosen::Null => Ok(Parsed::Null),
        Chosen::Bool(allows) => Ok(Parsed::Bool(allows)),
        Chosen::One(kind, _, mut rest) => Value::single(&mut rest, kind, depth).read(),
        Chosen::Many(kind, number, rest) => Ok(Parsed::Elements(kind, number, rest, depth)),
    }
}

/// Refuses the types that reach into serde_json's own deserializer.
pub(super) fn refuse_json_only(name: &'static str) -> Result<()> {
    match name.strip_prefix("$serde_json::private::") {
        Some(name) => Err(Error::without_place(ErrorKind::JsonOnly(name))),
        None => Ok(()),
    }
}
