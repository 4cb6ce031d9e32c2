//! Visitors that ignore fields.
//!
//! A visitor receives each field of a message, and a derived one ignores those that its struct
//! lacks. It does not state which ones they are: with `deny_unknown_fields` the same list of fields
//! means that others are errors. So a field is handed to the visitor until the visitor has ignored
//! it once. From then on it is skipped as a dropped field is.
//!
//! This is right if a visitor that ignored a field once always ignores it. It holds for the code of
//! `#[derive(Deserialize)]`, which decides by the name of the field alone. A visitor with a value
//! may decide by it, and one that was written by hand by other fields: neither is remembered.

use std::any::type_name;

use serde::de::Visitor;

use super::access::Map;
use crate::error::Result;
use crate::schema::{Entry, Ignored, VisitorId};

/// Returns what a visitor ignores of a message. `None` if the visitor is not remembered.
#[inline]
pub(super) fn ignored_by<'de, V: Visitor<'de>>(
    entry: &'static Entry,
    fields: &'static [&'static str],
) -> Option<&'static Ignored> {
    // An adapter has a value: it holds the visitor that it adapts, or reports what it ignores.
    if size_of::<V>() != 0 {
        return None;
    }
    let code = address::<V>();
    entry.ignored_by(VisitorId { code, fields }, is_derived::<V>)
}

/// The address of the function that visits the members of a message.
#[inline]
fn address<'m, 'de: 'm, V: Visitor<'de>>() -> usize {
    let visit: fn(V, Map<'m, 'm, 'de>) -> Result<V::Value> = V::visit_map;
    visit as usize
}

/// Whether the visitor is one of `#[derive(Deserialize)]`.
///
/// Names of types are not stable. If the name of derived visitors changes, their fields are not
/// skipped, and a test fails.
fn is_derived<V>() -> bool {
    is_name_of_derived(type_name::<V>())
}

pub(super) fn is_name_of_derived(name: &str) -> bool {
    let generic = without_arguments(name).unwrap_or(name);
    generic.ends_with("::deserialize::__Visitor")
}

/// Removes `<A, B>` at the end of a name.
fn without_arguments(name: &str) -> Option<&str> {
    let mut depth = 0_usize;
    for (index, byte) in name.bytes().enumerate().rev() {
        match byte {
            b'>' => depth += 1,
            b'<' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return match byte {
                b'<' => name.get(..index),
                _ => None,
            };
        }
    }
    None
}
