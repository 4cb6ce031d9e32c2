//! Messages whose JSON is one of their fields: `JSONSchemaPropsOrBool` and its siblings.

use super::elements::skip_all;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{Choice, Kind, Message};
use crate::wire;

/// The field that JSON has.
#[derive(Clone, Copy)]
pub(super) enum Chosen<'de> {
    Null,
    Bool(bool),
    /// The message of the field with this number, from its length on.
    One(Kind, u32, &'de [u8]),
    /// Elements of the field with this number, from the length of the first one on.
    Many(Kind, u32, &'de [u8]),
}

/// Reads which field it is.
pub(super) fn choose<'de>(
    message: &'static Message,
    rule: Choice,
    mut rest: &'de [u8],
) -> Result<Chosen<'de>> {
    let (mut allows, mut seen) = (false, 0_u64);
    let (mut one, mut many) = (None, None);
    while !rest.is_empty() {
        let start = rest;
        let (number, found) = wire::tag(&mut rest)?;
        let Some(field) = message.field(number) else {
            wire::skip(&mut rest, found)?;
            continue;
        };
        if found != field.wire {
            return Err(Error::wire_type(field.wire, found, start));
        }
        if seen & 1 << number != 0 {
            return Err(Error::at(ErrorKind::Repeated, start));
        }
        seen |= 1 << number;
        match (rule, number) {
            (Choice::Bool, 1) => allows = wire::varint(&mut rest)? != 0,
            (Choice::Bool, _) | (_, 1) => {
                one = Some(Chosen::One(field.kind, number, rest));
                wire::skip(&mut rest, found)?;
            }
            _ => {
                many = Some(Chosen::Many(field.kind, number, rest));
                skip_all(&mut rest, number, found)?;
            }
        }
    }
    // Go writes strings before a schema, and several schemas before one.
    Ok(match rule {
        Choice::Bool => one.unwrap_or(Chosen::Bool(allows)),
        Choice::Array | Choice::Strings => many.or(one).unwrap_or(Chosen::Null),
    })
}

impl Chosen<'_> {
    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}
