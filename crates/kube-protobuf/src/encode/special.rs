//! Values whose JSON differs from their message: times, quantities, bytes, JSON texts.

use serde_json::Value;

use super::write::{bytes_field, int_field};
use super::{EncodeError, Result};
use crate::schema::Kind;
use crate::text;

/// Writes the content of the message, or the bytes.
pub(super) fn write(out: &mut Vec<u8>, kind: Kind, value: &Value) -> Result<()> {
    match kind {
        Kind::Bytes => {
            let bytes = text::from_base64(string(value)?);
            out.extend(bytes.ok_or(EncodeError::new("base64"))?);
        }
        Kind::Time | Kind::MicroTime => time(out, kind, value)?,
        Kind::Duration => {
            let nanos = match value {
                Value::Null => Some(0),
                _ => text::from_duration(string(value)?),
            };
            let nanos = nanos.ok_or(EncodeError::new("a duration such as 1m30s"))?;
            int_field(out, 1, nanos as u64);
        }
        Kind::Quantity => match value {
            Value::Null => bytes_field(out, 1, b"0"),
            Value::Number(number) => bytes_field(out, 1, number.to_string().as_bytes()),
            _ => bytes_field(out, 1, string(value)?.as_bytes()),
        },
        Kind::IntOrString => int_or_string(out, value)?,
        Kind::Json => {
            if !value.is_null() {
                bytes_field(out, 1, value.to_string().as_bytes());
            }
        }
        Kind::Names => {
            for name in value.as_array().ok_or(EncodeError::new("an array"))? {
                bytes_field(out, 1, string(name)?.as_bytes());
            }
        }
        // All other kinds are scalars and messages, which the caller writes.
        _ => return Err(EncodeError::new("another kind")),
    }
    Ok(())
}

fn string(value: &Value) -> Result<&str> {
    value.as_str().ok_or(EncodeError::new("a string"))
}

/// Null is Go's zero time, which has no bytes.
fn time(out: &mut Vec<u8>, kind: Kind, value: &Value) -> Result<()> {
    if value.is_null() {
        return Ok(());
    }
    let time = text::from_time(string(value)?);
    let (seconds, nanos) = time.ok_or(EncodeError::new("a time as in RFC 3339"))?;
    let nanos = match kind {
        Kind::MicroTime => nanos / 1_000 * 1_000,
        _ => 0,
    };
    if (seconds, nanos) != (text::GO_ZERO_SECONDS, 0) {
        int_field(out, 1, seconds as u64);
        int_field(out, 2, nanos as u64);
    }
    Ok(())
}

/// Go always writes all three fields.
fn int_or_string(out: &mut Vec<u8>, value: &Value) -> Result<()> {
    let (of_type, int, string) = match value {
        Value::Null => (0, 0, ""),
        Value::String(text) => (1, 0, text.as_str()),
        _ => {
            let small = value.as_i64().and_then(|int| i32::try_from(int).ok());
            let int = small.ok_or(EncodeError::new("an integer of 32 bits or a string"))?;
            (0, i64::from(int), "")
        }
    };
    int_field(out, 1, of_type);
    int_field(out, 2, int as u64);
    bytes_field(out, 3, string.as_bytes());
    Ok(())
}
