//! Values whose JSON differs from their message: times, quantities, bytes, JSON texts.

use super::parsed::Parsed;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::Kind;
use crate::text;
use crate::wire;

/// Reads a value that JSON writes as a string.
pub(crate) fn read_text<'de>(kind: Kind, rest: &mut &'de [u8]) -> Result<Parsed<'de>> {
    let start = *rest;
    let message = wire::bytes(rest)?;
    match kind {
        Kind::Bytes => Ok(Parsed::Text(text::base64(message))),
        Kind::Time | Kind::MicroTime => {
            let (seconds, nanos) = timestamp(message)?;
            if is_zero(kind, message, seconds, nanos) {
                return Ok(Parsed::Null);
            }
            let micros = matches!(kind, Kind::MicroTime).then_some(nanos);
            let Some(text) = text::time(seconds, micros) else {
                return Err(Error::at(ErrorKind::Time, start));
            };
            Ok(Parsed::Time(text))
        }
        Kind::Duration => Ok(Parsed::Text(text::duration(duration(message)?))),
        Kind::Quantity => match std::str::from_utf8(wire::only_field(message)?) {
            Err(_) => Err(Error::at(ErrorKind::Utf8, message)),
            Ok("") => Ok(Parsed::Str("0")),
            Ok(quantity) => Ok(Parsed::Str(quantity)),
        },
        Kind::IntOrString => read_int_or_string(message),
        _ => Err(Error::at(ErrorKind::Truncated, start)),
    }
}

/// Checks what [`read_text`] reads of a time.
pub(super) fn check_time(kind: Kind, rest: &mut &[u8]) -> Result<()> {
    let start = *rest;
    let message = wire::bytes(rest)?;
    let (seconds, nanos) = timestamp(message)?;
    let micros = matches!(kind, Kind::MicroTime).then_some(nanos);
    // Go's zero time is in the year 1.
    match text::whole_seconds(seconds, micros) {
        Some(_) => Ok(()),
        None => Err(Error::at(ErrorKind::Time, start)),
    }
}

/// Reads the two integers of a timestamp.
pub(crate) fn timestamp(mut message: &[u8]) -> Result<(i64, i32)> {
    let (mut seconds, mut nanos) = (0, 0);
    while !message.is_empty() {
        let start = message;
        match wire::tag(&mut message)? {
            (1, wire::VARINT) => seconds = wire::varint(&mut message)? as i64,
            (2, wire::VARINT) => nanos = wire::varint(&mut message)? as i32,
            (1 | 2, found) => return Err(Error::wire_type(wire::VARINT, found, start)),
            (_, wire) => wire::skip(&mut message, wire)?,
        }
    }
    Ok((seconds, nanos))
}

/// Tells whether a time is Go's zero time, which JSON has as null. It has no bytes on the wire; the
/// first second of 1970 has four.
pub(crate) fn is_zero_time(kind: Kind, message: &[u8]) -> Result<bool> {
    // Seconds before 1970 take ten bytes and a tag.
    if (1..11).contains(&message.len()) {
        return Ok(false);
    }
    let (seconds, nanos) = timestamp(message)?;
    Ok(is_zero(kind, message, seconds, nanos))
}

/// Nanoseconds count only as far as JSON shows them: not at all for a `Time`, and in whole
/// microseconds for a `MicroTime`.
fn is_zero(kind: Kind, message: &[u8], seconds: i64, nanos: i32) -> bool {
    let micros = match kind {
        Kind::MicroTime => i64::from(nanos) / 1_000,
        _ => 0,
    };
    let whole = seconds.checked_add(micros.div_euclid(1_000_000));
    let is_first_second = whole == Some(text::GO_ZERO_SECONDS);
    message.is_empty() || is_first_second && micros.rem_euclid(1_000_000) == 0
}

fn duration(mut message: &[u8]) -> Result<i64> {
    let mut nanos = 0;
    while !message.is_empty() {
        let start = message;
        match wire::tag(&mut message)? {
            (1, wire::VARINT) => nanos = wire::varint(&mut message)? as i64,
            (1, found) => return Err(Error::wire_type(wire::VARINT, found, start)),
            (_, wire) => wire::skip(&mut message, wire)?,
        }
    }
    Ok(nanos)
}

/// All three fields are always on the wire, so the type decides.
fn read_int_or_string(message: &[u8]) -> Result<Parsed<'_>> {
    let mut rest = message;
    let (mut of_type, mut int, mut string) = (0, 0, &[0_u8][..]);
    while !rest.is_empty() {
        let start = rest;
        match wire::tag(&mut rest)? {
            (1, wire::VARINT) => of_type = wire::varint(&mut rest)? as i64,
            (2, wire::VARINT) => int = wire::varint(&mut rest)? as i32,
            (3, wire::BYTES) => {
                string = rest;
                wire::skip(&mut rest, wire::BYTES)?;
            }
            (1 | 2, found) => return Err(Error::wire_type(wire::VARINT, found, start)),
            (3, found) => return Err(Error::wire_type(wire::BYTES, found, start)),
            (_, wire) => wire::skip(&mut rest, wire)?,
        }
    }
    match of_type {
        0 => Ok(Parsed::Signed(i64::from(int))),
        1 => Ok(Parsed::Str(wire::text(&mut string)?)),
        other => Err(Error::at(ErrorKind::IntOrString(other), message)),
    }
}

/// The number as JSON would have it: Go writes 1.0 as `1`.
pub(super) fn number(number: f64) -> Parsed<'static> {
    let is_whole = number.fract() == 0.0 && number.abs() < 1e21;
    if !is_whole || number == 0.0 && number.is_sign_negative() {
        return Parsed::Float(number);
    }
    // The shortest digits, then zeros, as in Go: beyond 2^53 they differ from the exact value.
    let digits = number.to_string();
    match (digits.parse(), digits.parse()) {
        (Ok(small), _) => Parsed::Signed(small),
        (_, Ok(large)) => Parsed::Unsigned(large),
        _ => Parsed::Float(number),
    }
}

/// Reads the JSON in the only field of a message as a tree.
///
/// A visitor that takes anything reads the text itself, see [`json`]; for others that would compile
/// all of their code once more.
pub(crate) fn json_tree(rest: &mut &[u8]) -> Result<serde_json::Value> {
    json(rest, |json| serde::Deserialize::deserialize(json))
}

/// Whether the JSON in the only field of a message is null.
pub(super) fn is_json_null(mut rest: &[u8]) -> Result<bool> {
    let raw = wire::only_field(wire::bytes(&mut rest)?)?;
    Ok(matches!(raw.trim_ascii(), b"" | b"null"))
}

/// Reads the JSON in the only field of a message. No bytes are null.
pub(super) fn json<'de, T>(
    rest: &mut &'de [u8],
    read: impl FnOnce(&mut JsonReader<'de>) -> Result<T, serde_json::Error>,
) -> Result<T> {
    let raw = wire::only_field(wire::bytes(rest)?)?;
    // serde_json validates strings one by one unless the whole text is known to be UTF-8.
    let Ok(text) = std::str::from_utf8(raw) else {
        return Err(Error::at(ErrorKind::Utf8, raw));
    };
    let text = if text.is_empty() { "null" } else { text };
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = read(&mut reader).and_then(|value| reader.end().map(|()| value));
    value.map_err(|error| Error::at(ErrorKind::Json(error.to_string()), raw))
}

/// Parses the JSON within a field.
pub(super) type JsonReader<'de> = serde_json::Deserializer<serde_json::de::StrRead<'de>>;
