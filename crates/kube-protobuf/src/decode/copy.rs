//! Copies of messages without some of their fields.

use super::checked::Checked;
use super::choice::{self, Chosen};
use super::dropped::{Dropped, Within, within};
use super::elements::{Elements, Entries};
use super::members::{Frame, Pending, Source};
use super::value::{Value, deeper};
use crate::encode::write;
use crate::error::{Error, Result, Segment};
use crate::schema::{Choice, Field, Kind, Message, Schema, Shape};
use crate::wire;

/// Appends a copy of a message to `out`, without the dropped fields, and checks what it copies.
///
/// All that stays is checked as a decode to `serde_json::Value` checks it, so a copy decodes. A
/// dropped field is skipped by its length, and damage within it is not found. Fields that the
/// schema lacks and zeros that JSON leaves out are not copied either: no decode sees them.
///
/// A copy decodes to the same value as the message, without the dropped members. A dropped field
/// that JSON always has decodes to its zero value. JSON within a field (managed fields, extensions)
/// is one value: it is copied whole, and no path leads into it.
///
/// The copy is not longer than the message. Apart from `out`, nothing is allocated for it.
///
/// # Errors
///
/// The bytes are no message of this schema. `out` is then as it was.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use informer_kube_protobuf::{Dropped, Schema, copy_without, from_slice, to_vec};
/// use serde_json::{Value, json};
///
/// /// Names with what is dropped within them; no names: all of it.
/// #[derive(Default)]
/// struct Names(BTreeMap<&'static str, Names>);
///
/// impl Dropped for Names {
///     fn child(&self, name: &str) -> Option<&dyn Dropped> {
///         self.0.get(name).map(|names| names as &dyn Dropped)
///     }
///
///     fn is_dropped(&self) -> bool {
///         self.0.is_empty()
///     }
/// }
///
/// let schema = Schema::of("v1", "ConfigMap").expect("a built-in kind");
/// let object = json!({"metadata": {"name": "settings"}, "data": {"a": "b", "c": "d"}});
/// let dropped = Names([("data", Names([("a", Names::default())].into()))].into());
///
/// let mut copy = Vec::new();
/// copy_without(schema, &to_vec(schema, &object)?, &dropped, &mut copy)?;
/// let expected = json!({"metadata": {"name": "settings"}, "data": {"c": "d"}});
/// assert_eq!(from_slice::<Value>(schema, &copy)?, expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn copy_without(
    schema: Schema,
    message: &[u8],
    dropped: &dyn Dropped,
    out: &mut Vec<u8>,
) -> Result<()> {
    let start = out.len();
    out.reserve(message.len());
    let mut writer = Writer { out };
    let copied = match schema.choice() {
        Some(rule) => writer.choice(schema.fields(), rule, message, Some(dropped), 1),
        None => writer.members(schema.fields(), message, Some(dropped), 1),
    };
    copied.map_err(|error| {
        out.truncate(start);
        error.in_input(message)
    })
}

/// Writes a copy. The depth of each method is the one around the value.
struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

/// A length that is written when the bytes behind it are.
struct Length {
    start: usize,
    width: usize,
}

impl Writer<'_> {
    /// Copies the fields of a message.
    fn members(
        &mut self,
        message: &'static Message,
        bytes: &[u8],
        dropped: Within<'_>,
        depth: u8,
    ) -> Result<()> {
        let mut frame = Frame::new(message, bytes);
        while !frame.rest.is_empty() {
            let start = frame.rest;
            let next = frame.next_on_wire()?;
            let Some((field, wire)) = next.and_then(on_wire) else {
                continue;
            };
            let within = match field.shape {
                // Its members are members of this message.
                Shape::Inline => Some(dropped),
                _ => within(dropped, field.name),
            };
            let rest = &mut frame.rest;
            let mut result = match within {
                Some(within) => self.field(field, wire, start, rest, within, depth),
                None => Value::of_field(rest, field, wire, depth).skip(),
            };
            Error::add(&mut result, || Segment::Field(field.name));
            result?;
        }
        Ok(())
    }

    /// Copies a field whose tag is at `start`, and its value at `rest`.
    fn field(
        &mut self,
        field: &'static Field,
        wire: u8,
        start: &[u8],
        rest: &mut &[u8],
        dropped: Within<'_>,
        depth: u8,
    ) -> Result<()> {
        let (number, kind) = (field.number, field.kind);
        match (field.shape, kind) {
            (Shape::Inline, Kind::Message(entry)) => {
                let bytes = wire::bytes(rest)?;
                let length = self.begin(number, bytes.len());
                self.members(entry.message(), bytes, dropped, depth)?;
                self.end(&length);
                Ok(())
            }
            (Shape::List, Kind::Message(_) | Kind::Choice(..)) => {
                let depth = deeper(depth, rest)?;
                let mut elements = Elements::new(rest, kind, number, wire, depth)?;
                self.elements(number, &mut elements, dropped)
            }
            (Shape::Map, _) => {
                let depth = deeper(depth, rest)?;
                let mut entries = Entries::new(rest, kind, number, depth);
                self.entries(number, &mut entries, dropped)
            }
            (Shape::Value | Shape::Pointer, Kind::Message(_) | Kind::Choice(..)) => {
                self.single(number, kind, rest, dropped, depth)
            }
            (shape, _) => {
                match shape {
                    Shape::List => check_any(Value::of_field(rest, field, wire, depth))?,
                    _ => check(kind, rest, depth)?,
                }
                self.out.extend_from_slice(taken(start, rest));
                Ok(())
            }
        }
    }

    /// Copies one value as a field with this number.
    fn single(
        &mut self,
        number: u32,
        kind: Kind,
        rest: &mut &[u8],
        dropped: Within<'_>,
        depth: u8,
    ) -> Result<()> {
        let (Kind::Message(entry) | Kind::Choice(entry, _)) = kind else {
            let start = *rest;
            check(kind, rest, depth)?;
            write::tag(self.out, number, kind.wire());
            self.out.extend_from_slice(taken(start, rest));
            return Ok(());
        };
        let depth = deeper(depth, rest)?;
        let bytes = wire::bytes(rest)?;
        let length = self.begin(number, bytes.len());
        match kind {
            Kind::Choice(_, rule) => self.choice(entry.message(), rule, bytes, dropped, depth)?,
            _ => self.members(entry.message(), bytes, dropped, depth)?,
        }
        self.end(&length);
        Ok(())
    }

    fn elements(
        &mut self,
        number: u32,
        elements: &mut Elements<'_, '_>,
        dropped: Within<'_>,
    ) -> Result<()> {
        let (kind, depth) = (elements.kind, elements.depth);
        while elements.advance()? {
            let index = elements.index;
            elements.index += 1;
            let mut result = self.single(number, kind, elements.rest(), dropped, depth);
            Error::add(&mut result, || Segment::Index(index));
            result?;
        }
        Ok(())
    }

    fn entries(
        &mut self,
        number: u32,
        entries: &mut Entries<'_, '_>,
        dropped: Within<'_>,
    ) -> Result<()> {
        while entries.advance()? {
            let key = entries.key;
            let Some(within) = within(dropped, key) else {
                continue;
            };
            // A tag and a length, the key, a tag and the value.
            let most = 2 + width(key.len()) + key.len() + entries.value.map_or(0, <[u8]>::len);
            let length = self.begin(number, most);
            if !key.is_empty() {
                write::bytes_field(self.out, 1, key.as_bytes());
            }
            if let Some(mut value) = entries.value {
                let mut result = self.single(2, entries.kind, &mut value, within, entries.depth);
                Error::add(&mut result, || Segment::Key(key.to_owned()));
                result?;
            }
            self.end(&length);
        }
        Ok(())
    }

    /// Copies the field of the message that JSON has.
    fn choice(
        &mut self,
        message: &'static Message,
        rule: Choice,
        bytes: &[u8],
        dropped: Within<'_>,
        depth: u8,
    ) -> Result<()> {
        match choice::choose(message, rule, bytes)? {
            Chosen::Null | Chosen::Bool(false) => Ok(()),
            Chosen::Bool(true) => {
                write::int_field(self.out, 1, 1);
                Ok(())
            }
            Chosen::One(kind, number, mut rest) => {
                self.single(number, kind, &mut rest, dropped, depth)
            }
            Chosen::Many(kind, number, mut rest) => {
                let mut elements = Elements::new(&mut rest, kind, number, wire::BYTES, depth)?;
                self.elements(number, &mut elements, dropped)
            }
        }
    }

    /// Begins a field that has `most` bytes or fewer.
    fn begin(&mut self, number: u32, most: usize) -> Length {
        write::tag(self.out, number, wire::BYTES);
        let (start, width) = (self.out.len(), width(most));
        self.out.resize(start + width, 0);
        Length { start, width }
    }

    /// Writes the length before the bytes, and moves them if it takes fewer bytes than expected.
    fn end(&mut self, length: &Length) {
        let content = length.start + length.width;
        let mut rest = self.out.len() - content;
        let width = width(rest);
        if width < length.width {
            self.out.copy_within(content.., length.start + width);
            self.out.truncate(length.start + width + rest);
        }
        let bytes = self.out.iter_mut().skip(length.start).take(width);
        for (index, byte) in bytes.enumerate() {
            let is_last = index + 1 == width;
            *byte = (rest & 0x7f) as u8 | if is_last { 0 } else { 0x80 };
            rest >>= 7;
        }
    }
}

fn on_wire(pending: Pending) -> Option<(&'static Field, u8)> {
    match pending.source {
        Source::Wire(wire) => Some((pending.field, wire)),
        Source::Missing | Source::Supplied(_) => None,
    }
}

/// Checks one value.
#[inline]
fn check(kind: Kind, rest: &mut &[u8], depth: u8) -> Result<()> {
    match kind {
        Kind::Str => wire::text(rest).map(drop),
        // Any number is one, and any bytes are bytes.
        Kind::Bool | Kind::I32 | Kind::I64 => wire::varint(rest).map(drop),
        Kind::Bytes => wire::bytes(rest).map(drop),
        _ => check_any(Value::single(rest, kind, depth)),
    }
}

/// Checks a value as a decode does.
fn check_any(value: Value<'_, '_>) -> Result<()> {
    serde::Deserializer::deserialize_any(value, Checked).map(drop)
}

/// The bytes from `start` to `rest`, which is behind it in the same message.
#[inline]
fn taken<'de>(start: &'de [u8], rest: &[u8]) -> &'de [u8] {
    start.get(..start.len() - rest.len()).unwrap_or_default()
}

/// The bytes that a length takes.
#[inline]
fn width(length: usize) -> usize {
    let bits = usize::BITS - (length | 1).leading_zeros();
    bits.div_ceil(7) as usize
}
