//! An object as a source delivers it: its identity, and its body or why there is none.

use std::{fmt, sync::Arc};

use derive_where::derive_where;
use informer_object::Identity;

/// One object of a page or of a watch event.
#[derive_where(Clone, Debug)]
#[non_exhaustive]
pub struct Item<T> {
    /// Key, uid and version, read from the wire before any transform.
    pub identity: Identity,
    /// The object, or why it could not be decoded.
    pub body: Body<T>,
}

impl<T> Item<T> {
    /// An object with its identity.
    pub fn new(identity: Identity, body: Body<T>) -> Self {
        Self { identity, body }
    }
}

// SEC-6: the object is not shown, because it may be a Secret.
/// The body of an [`Item`]. Its `Debug` does not show the object. Exhaustive on purpose: a sink
/// must handle all kinds.
#[derive_where(Clone, Debug)]
pub enum Body<T> {
    /// Decoded for this item, transform applied.
    Decoded(#[derive_where(skip(Debug))] Arc<T>),
    /// The cached object with the same uid and version (see [`crate::Reuse`]); nothing was decoded.
    Reused(#[derive_where(skip(Debug))] Arc<T>),
    // FM-53, FM-54
    /// The metadata could be read, the rest could not. The key is to be quarantined.
    // In a box, since every item of a list has room for it.
    Undecodable(Box<DecodeError>),
}

impl<T> Body<T> {
    /// The object, if there is one.
    pub fn object(&self) -> Option<&Arc<T>> {
        match self {
            Self::Decoded(object) | Self::Reused(object) => Some(object),
            Self::Undecodable(_) => None,
        }
    }
}

/// Why an object could not be decoded. Carries no content of the object.
// SEC-7
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{category} at {path}{}", place(*.line, *.column))]
#[non_exhaustive]
pub struct DecodeError {
    /// What kind of mistake.
    pub category: DecodeErrorCategory,
    /// The path to the field, such as `spec.containers[0].image`, or `?` where it is not known.
    pub path: String,
    /// Line within the object's own JSON, from 1; 0 where it is not known, and for protobuf.
    pub line: usize,
    /// Column within that line; for protobuf the offset of the byte, 0 where it is not known.
    pub column: usize,
}

impl DecodeError {
    /// Puts an error together; `path` must name fields and indexes only, never a value.
    pub fn new(category: DecodeErrorCategory, path: String, line: usize, column: usize) -> Self {
        Self {
            category,
            path,
            line,
            column,
        }
    }
}

/// The place of a defect, as far as it is known.
fn place(line: usize, column: usize) -> String {
    match (line, column) {
        (0, 0) => String::new(),
        (0, byte) => format!(" (byte {byte})"),
        _ => format!(" (line {line}, column {column})"),
    }
}

/// The kinds of [`DecodeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorCategory {
    /// The object is well formed but does not fit the type.
    Data,
    /// The object is not well formed.
    Syntax,
    /// Nested deeper than the parser allows.
    // FM-55
    Depth,
    /// Larger than the caller allows.
    // FM-56
    Size,
    /// The caller's transform refused the object.
    // FM-57
    Transform,
    /// The type's `Deserialize` panicked on the object.
    Panicked,
}

impl fmt::Display for DecodeErrorCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Data => "the object does not fit its type",
            Self::Syntax => "the object is not well formed",
            Self::Depth => "the object is nested too deeply",
            Self::Size => "the object is larger than the limit",
            Self::Transform => "the transform refused the object",
            Self::Panicked => "decoding the object panicked",
        })
    }
}
