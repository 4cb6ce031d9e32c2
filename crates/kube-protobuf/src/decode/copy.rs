//! Copies of messages without some of their fields.

use super::check;
use super::choice::{self, Chosen};
use super::dropped::{Dropped, children_of, within};
use super::elements::{Elements, Entries};
use super::members::Frame;
use super::value::{Value, deeper};
use crate::encode::write::{self, width};
use crate::error::{Error, Result, Segment};
use crate::schema::{Choice, Field, Kind, Message, Schema, Shape};
use crate::wire;

/// Appends a copy of a message to `out`, without the dropped fields, and checks what it copies.
///
/// All that stays is checked as a decode to `serde_json::Value` checks it, so a copy decodes. A
/// dropped field is skipped by its length, and damage within it is not found. Fields that the
/// schema lacks stay if they are well formed, but what is dropped is not looked for in them.
///
/// A copy decodes to the same value as the message, without the dropped members. A dropped field
/// that JSON always has decodes to its zero value. JSON within a field (managed fields, extensions)
/// is one value: it is copied whole, and no path leads into it.
///
/// The copy is not longer than the message, and equal to it if nothing is dropped. Nothing but
/// `out` is allocated for it.
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
        Some(rule) => writer.choice(schema.fields(), rule, message, dropped, 1),
        None => writer.members(schema.fields(), message, dropped, 1),
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
    /// Copies the fields of a message. Adjacent fields that stay as they are are copied together.
    fn members(
        &mut self,
        message: &'static Message,
        bytes: &[u8],
        dropped: &dyn Dropped,
        depth: u8,
    ) -> Result<()> {
        let children = children_of(dropped, message);
        let mut frame = Frame::new(message, bytes);
        let mut unwritten = bytes;
        while !frame.rest.is_empty() {
            let start = frame.rest;
            let Some((field, wire)) = frame.next_on_wire()?.and_then(check::on_wire) else {
                continue;
            };
            let within = match field.shape {
                // Its members are members of this message.
                Shape::Inline => Some(Some(dropped)),
                _ if children & 1 << field.number == 0 => Some(None),
                _ => within(Some(dropped), field.name),
            };
            let rest = &mut frame.rest;
            let mut result = match within {
                Some(None) => check::value(field, wire, rest, depth),
                Some(Some(dropped)) => {
                    self.unchanged(unwritten, start);
                    self.field(field, wire, start, rest, dropped, depth)
                }
                None => {
                    self.unchanged(unwritten, start);
                    Value::of_field(rest, field, wire, depth).skip()
                }
            };
            Error::add(&mut result, || Segment::Field(field.name));
            result?;
            if !matches!(within, Some(None)) {
                unwritten = frame.rest;
            }
        }
        self.unchanged(unwritten, &[]);
        Ok(())
    }

    /// Copies the bytes from `start` to `rest`, which is behind it in the same message.
    #[inline]
    fn unchanged(&mut self, start: &[u8], rest: &[u8]) {
        let taken = start.get(..start.len() - rest.len());
        self.out.extend_from_slice(taken.unwrap_or_default());
    }

    /// Copies a field within which something is dropped. Its tag is at `start`, and its value at
    /// `rest`.
    fn field(
        &mut self,
        field: &'static Field,
        wire: u8,
        start: &[u8],
        rest: &mut &[u8],
        dropped: &dyn Dropped,
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
            // It has no members.
            _ => {
                check::value(field, wire, rest, depth)?;
                self.unchanged(start, rest);
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
        dropped: &dyn Dropped,
        depth: u8,
    ) -> Result<()> {
        let (Kind::Message(entry) | Kind::Choice(entry, _)) = kind else {
            let start = *rest;
            check::single(kind, rest, depth)?;
            write::tag(self.out, number, kind.wire());
            self.unchanged(start, rest);
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
        dropped: &dyn Dropped,
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
        dropped: &dyn Dropped,
    ) -> Result<()> {
        while entries.advance()? {
            let key = entries.key;
            let mut result = match (within(Some(dropped), key), entries.value) {
                (None, _) => Ok(()),
                (Some(Some(dropped)), Some(value)) => self.entry(number, entries, value, dropped),
                _ => {
                    write::bytes_field(self.out, number, entries.entry);
                    check::entry(entries)
                }
            };
            Error::add(&mut result, || Segment::Key(key.to_owned()));
            result?;
        }
        Ok(())
    }

    /// Copies an entry of a map, within the value of which something is dropped.
    fn entry(
        &mut self,
        number: u32,
        entry: &Entries<'_, '_>,
        mut value: &[u8],
        dropped: &dyn Dropped,
    ) -> Result<()> {
        let key = entry.key;
        // A tag and a length, the key, a tag and the value.
        let most = 2 + width(key.len()) + key.len() + value.len();
        let length = self.begin(number, most);
        if !key.is_empty() {
            write::bytes_field(self.out, 1, key.as_bytes());
        }
        self.single(2, entry.kind, &mut value, dropped, entry.depth)?;
        self.end(&length);
        Ok(())
    }

    /// Copies the field of the message that JSON has.
    fn choice(
        &mut self,
        message: &'static Message,
        rule: Choice,
        bytes: &[u8],
        dropped: &dyn Dropped,
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
