//! A single value that was read, before a visitor sees it.
//!
//! Reading depends on no type of the caller. What does is compiled once for each visitor of a
//! program, so it is no more than a call for each kind of value (`access.rs`).

use serde_json::Value as Tree;

use crate::schema::{Entry, Kind};
use crate::text::TimeText;

/// A single value.
pub(crate) enum Parsed<'de> {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Str(&'de str),
    Time(TimeText),
    Text(String),
    /// A message and its depth.
    Message(&'static Entry, &'de [u8], u8),
    /// Elements of the field with this number, from behind the tag of the first one on; their
    /// depth.
    Elements(Kind, u32, &'de [u8], u8),
    NoElements,
    /// A JSON text.
    Tree(Tree),
}
