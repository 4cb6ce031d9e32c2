//! The wire format: integers, tags and lengths at the front of the bytes that are left.

use std::hint::black_box;

use crate::error::{Error, ErrorKind, Result};

/// Wire types that Kubernetes uses, and fixed32, which is skipped.
pub(crate) const VARINT: u8 = 0;
pub(crate) const FIXED64: u8 = 1;
pub(crate) const BYTES: u8 = 2;
const GROUP_START: u8 = 3;
const GROUP_END: u8 = 4;
const FIXED32: u8 = 5;

/// Messages, lists and maps may be nested this deep, as in serde_json.
pub(crate) const MAX_DEPTH: u8 = 128;

/// A length above this one is absurd: no message of Kubernetes has 2 GiB.
const MAX_LENGTH: u64 = i32::MAX as u64;

/// The largest number of a field.
const MAX_NUMBER: u64 = (1 << 29) - 1;

/// Reads a variable-length integer.
#[inline]
pub(crate) fn varint(rest: &mut &[u8]) -> Result<u64> {
    match **rest {
        [byte @ ..0x80, ref tail @ ..] => {
            *rest = tail;
            Ok(u64::from(byte))
        }
        [low, high @ ..0x80, ref tail @ ..] => {
            *rest = tail;
            Ok(u64::from(low & 0x7f) | u64::from(high) << 7)
        }
        _ => long_varint(rest),
    }
}

fn long_varint(rest: &mut &[u8]) -> Result<u64> {
    let mut value = 0;
    for (index, &byte) in rest.iter().enumerate().take(10) {
        let low = u64::from(byte & 0x7f);
        if index == 9 && byte > 1 {
            break;
        }
        value |= low << (7 * index);
        if byte < 0x80 {
            *rest = rest.get(index + 1..).unwrap_or_default();
            return Ok(value);
        }
    }
    let kind = match rest.len() {
        0..10 => ErrorKind::Truncated,
        _ => ErrorKind::Varint,
    };
    Err(Error::at(kind, rest))
}

/// Reads a tag: the number of a field and its wire type.
#[inline]
pub(crate) fn tag(rest: &mut &[u8]) -> Result<(u32, u8)> {
    let start = *rest;
    // Most fields have a number below 16, and a tag of one byte.
    if let Some((&tag @ 0x08..0x80, tail)) = start.split_first()
        && tag & 7 <= FIXED32
    {
        *rest = tail;
        return Ok((u32::from(tag >> 3), tag & 7));
    }
    let tag = varint(rest)?;
    let (number, wire) = (tag >> 3, (tag & 7) as u8);
    if number == 0 || number > MAX_NUMBER || wire > FIXED32 {
        return Err(Error::at(ErrorKind::Tag(tag), start));
    }
    Ok((number as u32, wire))
}

/// Reads a tag of one or two bytes, as fields of the table have; `None` for any other bytes, and
/// for all that [`tag`] refuses.
#[inline]
pub(crate) fn short_tag(rest: &mut &[u8]) -> Option<(u32, u8)> {
    let (tag, tail) = match **rest {
        [tag @ 0x08..0x80, ref tail @ ..] => (u32::from(tag), tail),
        [low @ 0x80..=0xff, high @ 1..0x80, ref tail @ ..] => {
            (u32::from(low & 0x7f) | u32::from(high) << 7, tail)
        }
        _ => return None,
    };
    let wire = (tag & 7) as u8;
    if wire > FIXED32 {
        return None;
    }
    *rest = tail;
    Some((tag >> 3, wire))
}

/// Reads a length and takes that many bytes.
#[inline]
pub(crate) fn bytes<'de>(rest: &mut &'de [u8]) -> Result<&'de [u8]> {
    let start = *rest;
    let length = varint(rest)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let Some((taken, tail)) = rest.split_at_checked(length) else {
        return Err(no_bytes(length as u64, start));
    };
    *rest = tail;
    Ok(taken)
}

#[cold]
fn no_bytes(length: u64, start: &[u8]) -> Error {
    let kind = match length > MAX_LENGTH {
        true => ErrorKind::Length(length),
        false => ErrorKind::Truncated,
    };
    Error::at(kind, start)
}

/// Reads a string.
#[inline]
pub(crate) fn text<'de>(rest: &mut &'de [u8]) -> Result<&'de str> {
    let bytes = bytes(rest)?;
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = bytes.get(error.valid_up_to()..).unwrap_or(bytes);
        Error::at(ErrorKind::Utf8, valid)
    })
}

/// Reads a floating point number.
pub(crate) fn double(rest: &mut &[u8]) -> Result<f64> {
    let Some((bytes, tail)) = rest.split_first_chunk() else {
        return Err(Error::at(ErrorKind::Truncated, rest));
    };
    *rest = tail;
    Ok(f64::from_le_bytes(*bytes))
}

/// Loads all cache lines of a message, in parallel.
///
/// A reader that skips most fields jumps from tag to tag, and would wait for each line in turn.
pub(crate) fn fetch(message: &[u8]) {
    const LINE: usize = 64;
    let lines = message.iter().step_by(LINE);
    black_box(lines.fold(0, |all, byte| all ^ byte));
}

/// Skips the value of a field.
#[inline]
pub(crate) fn skip(rest: &mut &[u8], wire: u8) -> Result<()> {
    let fixed = match wire {
        VARINT => return varint(rest).map(drop),
        BYTES => return bytes(rest).map(drop),
        FIXED64 => 8,
        FIXED32 => 4,
        GROUP_START..=GROUP_END => return Err(Error::at(ErrorKind::Group, rest)),
        _ => return Err(Error::at(ErrorKind::Tag(u64::from(wire)), rest)),
    };
    match rest.get(fixed..) {
        Some(tail) => *rest = tail,
        None => return Err(Error::at(ErrorKind::Truncated, rest)),
    }
    Ok(())
}

/// Takes bytes behind their length; `None` if the length has more than two bytes.
#[inline]
pub(crate) fn bytes_quickly<'de>(rest: &mut &'de [u8]) -> Option<&'de [u8]> {
    let (length, tail) = match **rest {
        [length @ ..0x80, ref tail @ ..] => (usize::from(length), tail),
        [low, high @ ..0x80, ref tail @ ..] => {
            (usize::from(low & 0x7f) | usize::from(high) << 7, tail)
        }
        _ => return None,
    };
    let (taken, tail) = tail.split_at_checked(length)?;
    *rest = tail;
    Some(taken)
}

/// Skips the value of a field; `None` if [`skip`] would fail.
#[inline]
pub(crate) fn skip_quickly(rest: &mut &[u8], wire: u8) -> Option<()> {
    if wire == BYTES && bytes_quickly(rest).is_some() {
        return Some(());
    }
    skip(rest, wire).ok()
}

/// Whether all bytes are ASCII. Short texts take a few instructions, without a call.
#[inline]
pub(crate) fn is_ascii(text: &[u8]) -> bool {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let word = |bytes: &[u8; 8]| u64::from_ne_bytes(*bytes);
    let all = match text.last_chunk() {
        // The last word overlaps the one before.
        Some(last) => {
            let (words, _) = text.as_chunks();
            words.iter().fold(word(last), |all, next| all | word(next))
        }
        None => text.iter().fold(0, |all, &byte| all | u64::from(byte)),
    };
    all & HIGH == 0
}

/// Skips the value and all adjacent ones of the same field; `None` if one is damaged, or the tag
/// behind them is long.
#[inline]
pub(crate) fn skip_quickly_all(rest: &mut &[u8], number: u32, mut wire: u8) -> Option<()> {
    loop {
        skip_quickly(rest, wire)?;
        if rest.is_empty() {
            return Some(());
        }
        let mut ahead = *rest;
        let (next, wire_of_next) = short_tag(&mut ahead)?;
        if next != number {
            return Some(());
        }
        (*rest, wire) = (ahead, wire_of_next);
    }
}

/// Skips the next tag if it is one of field `number`, and returns its wire type.
#[inline]
pub(crate) fn tag_of(rest: &mut &[u8], number: u32) -> Result<Option<u8>> {
    if rest.is_empty() {
        return Ok(None);
    }
    let mut ahead = *rest;
    let (found, wire) = tag(&mut ahead)?;
    if found != number {
        return Ok(None);
    }
    *rest = ahead;
    Ok(Some(wire))
}

/// Returns the bytes of field 1, the only one of messages such as `RawExtension`.
pub(crate) fn only_field(mut message: &[u8]) -> Result<&[u8]> {
    let mut content: &[u8] = &[];
    while !message.is_empty() {
        let start = message;
        match tag(&mut message)? {
            (1, BYTES) => content = bytes(&mut message)?,
            (1, found) => return Err(Error::wire_type(BYTES, found, start)),
            (_, wire) => skip(&mut message, wire)?,
        }
    }
    Ok(content)
}
