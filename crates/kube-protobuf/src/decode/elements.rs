//! The elements of a list and the entries of a map, which are adjacent fields of one number.

use super::dropped::Within;
use crate::error::{Error, Result};
use crate::schema::Kind;
use crate::wire;

/// The elements of a list. The tag of the first one is read.
pub(super) struct Elements<'a, 'de> {
    rest: &'a mut &'de [u8],
    pub(super) kind: Kind,
    number: u32,
    /// The wire type of the tag that was read, until its value is.
    tag: Option<u8>,
    /// Elements that share one tag.
    packed: &'de [u8],
    pub(super) count: usize,
    pub(super) index: usize,
    pub(super) depth: u8,
    /// What is dropped within each element.
    pub(super) dropped: Within<'de>,
}

impl<'a, 'de> Elements<'a, 'de> {
    pub(super) fn new(
        rest: &'a mut &'de [u8],
        kind: Kind,
        number: u32,
        wire: u8,
        depth: u8,
    ) -> Result<Self> {
        let count = count(rest, kind.wire(), number, wire)?;
        Ok(Self {
            rest,
            kind,
            number,
            tag: Some(wire),
            packed: &[],
            count,
            index: 0,
            depth,
            dropped: None,
        })
    }

    /// No elements; `rest` is empty.
    pub(super) fn none(rest: &'a mut &'de [u8]) -> Self {
        Self {
            rest,
            kind: Kind::Str,
            number: 0,
            tag: None,
            packed: &[],
            count: 0,
            index: 0,
            depth: 0,
            dropped: None,
        }
    }

    /// Moves to the next element; false at the end.
    #[inline]
    pub(super) fn advance(&mut self) -> Result<bool> {
        while self.packed.is_empty() {
            let wire = match self.tag.take() {
                Some(wire) => wire,
                None => match wire::tag_of(self.rest, self.number)? {
                    Some(wire) => wire,
                    None => return Ok(false),
                },
            };
            let expected = self.kind.wire();
            if wire == expected {
                return Ok(true);
            }
            if wire != wire::BYTES {
                return Err(Error::wire_type(expected, wire, self.rest));
            }
            self.packed = wire::bytes(self.rest)?;
        }
        Ok(true)
    }

    /// Returns the bytes that begin with the element.
    #[inline]
    pub(super) fn rest(&mut self) -> &mut &'de [u8] {
        match self.packed.is_empty() {
            true => &mut *self.rest,
            false => &mut self.packed,
        }
    }

    /// Checks that the visitor took all elements, as serde_json does.
    pub(super) fn finish(mut self) -> Result<()> {
        match self.advance()? {
            true => Err(serde::de::Error::invalid_length(
                self.count,
                &format!("{} elements", self.index).as_str(),
            )),
            false => Ok(()),
        }
    }
}

/// Counts the elements, so that a list is allocated once; packed ones are counted as one.
#[inline]
pub(crate) fn count(rest: &[u8], expected: u8, number: u32, wire: u8) -> Result<usize> {
    let mut ahead = rest;
    wire::skip(&mut ahead, wire)?;
    let mut count = 1;
    while let Some(wire) = wire::tag_of(&mut ahead, number)? {
        if wire != expected && wire != wire::BYTES {
            break;
        }
        wire::skip(&mut ahead, wire)?;
        count += 1;
    }
    Ok(count)
}

/// Skips the value and all adjacent ones of the same field.
pub(crate) fn skip_all(rest: &mut &[u8], number: u32, wire: u8) -> Result<()> {
    wire::skip(rest, wire)?;
    while let Some(wire) = wire::tag_of(rest, number)? {
        wire::skip(rest, wire)?;
    }
    Ok(())
}

/// The entries of a map. The tag of the first one is read.
pub(crate) struct Entries<'a, 'de> {
    rest: &'a mut &'de [u8],
    pub(super) kind: Kind,
    number: u32,
    is_first: bool,
    /// The bytes of the entry.
    pub(super) entry: &'de [u8],
    /// The key of the value that comes next.
    pub(crate) key: &'de str,
    /// The bytes that begin with the value; none if the entry lacks it.
    pub(crate) value: Option<&'de [u8]>,
    pub(super) depth: u8,
    pub(super) dropped: Within<'de>,
    /// What is dropped within the value that comes next.
    pub(super) within: Within<'de>,
}

impl<'a, 'de> Entries<'a, 'de> {
    pub(crate) fn new(rest: &'a mut &'de [u8], kind: Kind, number: u32, depth: u8) -> Self {
        Self {
            rest,
            kind,
            number,
            is_first: true,
            entry: &[],
            key: "",
            value: None,
            depth,
            dropped: None,
            within: None,
        }
    }

    /// No entries; `rest` is empty.
    pub(super) fn none(rest: &'a mut &'de [u8]) -> Self {
        let mut entries = Self::new(rest, Kind::Str, 0, 0);
        entries.is_first = false;
        entries
    }

    #[inline]
    pub(crate) fn advance(&mut self) -> Result<bool> {
        if !std::mem::take(&mut self.is_first) {
            match wire::tag_of(self.rest, self.number)? {
                Some(wire::BYTES) => {}
                Some(found) => return Err(Error::wire_type(wire::BYTES, found, self.rest)),
                None => return Ok(false),
            }
        }
        let mut entry = wire::bytes(self.rest)?;
        self.entry = entry;
        // A missing key is empty.
        (self.key, self.value) = ("", None);
        while !entry.is_empty() {
            let start = entry;
            match wire::tag(&mut entry)? {
                (1, wire::BYTES) => self.key = wire::text(&mut entry)?,
                (1, found) => return Err(Error::wire_type(wire::BYTES, found, start)),
                (2, found) => {
                    let expected = self.kind.wire();
                    if found != expected {
                        return Err(Error::wire_type(expected, found, start));
                    }
                    self.value = Some(entry);
                    wire::skip(&mut entry, found)?;
                }
                (_, wire) => wire::skip(&mut entry, wire)?,
            }
        }
        Ok(true)
    }

    /// Checks that the visitor took all entries, as serde_json does.
    pub(super) fn finish(mut self) -> Result<()> {
        match self.is_first || self.advance()? {
            true => Err(serde::de::Error::custom("entries of a map are left over")),
            false => Ok(()),
        }
    }
}
