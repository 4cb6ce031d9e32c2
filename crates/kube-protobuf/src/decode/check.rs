//! Checks of messages that are not decoded.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::choice::{self, Chosen};
use super::elements::{Entries, count};
use super::members::{Frame, Pending, Source};
use super::special;
use super::value::{Value, deeper};
use crate::error::{Error, Result, Segment};
use crate::schema::{Field, Kind, Message, Shape};
use crate::wire;

/// Checks the fields of a message as a decode to `serde_json::Value` checks them.
///
/// The depth of each function is the one around the value, and that of this one is the message's.
pub(super) fn members(message: &'static Message, bytes: &[u8], depth: u8) -> Result<()> {
    let mut frame = Frame::new(message, bytes);
    loop {
        frame.skip_scalars();
        if frame.rest.is_empty() {
            break Ok(());
        }
        let Some((field, wire)) = frame.next_on_wire()?.and_then(on_wire) else {
            continue;
        };
        let mut result = value(field, wire, &mut frame.rest, depth);
        Error::add(&mut result, || Segment::Field(field.name));
        result?;
    }
}

/// Checks the value of a field whose tag is read.
#[inline]
pub(super) fn value(field: &'static Field, wire: u8, rest: &mut &[u8], depth: u8) -> Result<()> {
    match (field.shape, field.kind) {
        (Shape::Inline, Kind::Message(entry)) => {
            members(entry.message(), wire::bytes(rest)?, depth)
        }
        (Shape::List, kind @ (Kind::Str | Kind::Message(_) | Kind::Choice(..))) => {
            elements(kind, field.number, rest, deeper(depth, rest)?)
        }
        (Shape::List, _) => check_any(Value::of_field(rest, field, wire, depth)),
        (Shape::Map, kind) => entries(kind, field.number, rest, deeper(depth, rest)?),
        (_, kind) => single(kind, rest, depth),
    }
}

/// Checks one value.
#[inline]
pub(super) fn single(kind: Kind, rest: &mut &[u8], depth: u8) -> Result<()> {
    match kind {
        Kind::Str => text(rest),
        // Any number is one, and any bytes are bytes.
        Kind::Bool | Kind::I32 | Kind::I64 => wire::varint(rest).map(drop),
        Kind::Bytes => wire::bytes(rest).map(drop),
        Kind::Message(entry) => {
            let depth = deeper(depth, rest)?;
            members(entry.message(), wire::bytes(rest)?, depth)
        }
        Kind::Choice(entry, rule) => {
            let depth = deeper(depth, rest)?;
            match choice::choose(entry.message(), rule, wire::bytes(rest)?)? {
                Chosen::Null | Chosen::Bool(_) => Ok(()),
                Chosen::One(kind, _, mut rest) => single(kind, &mut rest, depth),
                Chosen::Many(kind, number, mut rest) => elements(kind, number, &mut rest, depth),
            }
        }
        Kind::Time | Kind::MicroTime => special::check_time(kind, rest),
        Kind::Duration | Kind::Quantity | Kind::IntOrString => {
            special::read_text(kind, rest).map(drop)
        }
        Kind::F64 | Kind::Json | Kind::Names => check_any(Value::single(rest, kind, depth)),
    }
}

#[inline]
fn text(rest: &mut &[u8]) -> Result<()> {
    let mut behind = *rest;
    match wire::bytes_quickly(&mut behind) {
        Some(text) if wire::is_ascii(text) => {
            *rest = behind;
            Ok(())
        }
        _ => wire::text(rest).map(drop),
    }
}

/// Checks adjacent elements. Each has a tag of its own, of which the first one is read.
fn elements(kind: Kind, number: u32, rest: &mut &[u8], depth: u8) -> Result<()> {
    let start = *rest;
    // A decode counts the elements first, and reports what it cannot count.
    each(kind, number, rest, depth).map_err(|error| {
        count(start, wire::BYTES, number, wire::BYTES)
            .err()
            .unwrap_or(error)
    })
}

fn each(kind: Kind, number: u32, rest: &mut &[u8], depth: u8) -> Result<()> {
    for index in 0.. {
        let mut result = single(kind, rest, depth);
        Error::add(&mut result, || Segment::Index(index));
        result?;
        match wire::tag_of(rest, number)? {
            Some(wire::BYTES) => {}
            Some(found) => return Err(Error::wire_type(wire::BYTES, found, rest)),
            None => break,
        }
    }
    Ok(())
}

fn entries(kind: Kind, number: u32, rest: &mut &[u8], depth: u8) -> Result<()> {
    let mut entries = Entries::new(rest, kind, number, depth);
    while entries.advance()? {
        let mut result = entry(&entries);
        Error::add(&mut result, || Segment::Key(entries.key.to_owned()));
        result?;
    }
    Ok(())
}

/// Checks the value of an entry of a map, if it has one. Its key is checked when it is read.
#[inline]
pub(super) fn entry(entry: &Entries<'_, '_>) -> Result<()> {
    match entry.value {
        Some(mut value) => single(entry.kind, &mut value, entry.depth),
        None => Ok(()),
    }
}

/// Checks any value by a decode that keeps nothing.
fn check_any(value: Value<'_, '_>) -> Result<()> {
    value.deserialize_any(Checked).map(drop)
}

/// The field and the wire type of a member that is on the wire.
#[inline]
pub(super) fn on_wire(pending: Pending) -> Option<(&'static Field, u8)> {
    match pending.source {
        Source::Wire(wire) => Some((pending.field, wire)),
        Source::Missing | Source::Supplied(_) => None,
    }
}

/// A visitor that takes every value and keeps none.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(Self)
    }

    #[inline]
    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(Self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self, A::Error> {
        while let Some(Self) = elements.next_element()? {}
        Ok(Self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while let Some((Self, Self)) = entries.next_entry()? {}
        Ok(Self)
    }
}
