//! Why bytes could not be decoded, and where.

use std::fmt;

/// Why a message could not be decoded.
///
/// The text names the field and the offset, and no value beyond the one that a visitor refused.
pub struct Error(Box<Inner>);

/// The result of a decode.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

struct Inner {
    kind: ErrorKind,
    /// The address of the byte; `from_slice` turns it into an offset.
    address: Option<usize>,
    offset: Option<usize>,
    /// From the inside out.
    path: Vec<Segment>,
}

/// One step of the path to a field.
#[derive(Debug)]
pub(crate) enum Segment {
    Field(&'static str),
    Index(usize),
    Key(String),
}

/// The defect of the bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end within a field.
    #[error("the message is truncated")]
    Truncated,
    /// A length is larger than any message of Kubernetes; nothing was allocated.
    #[error("a field states {0} bytes")]
    Length(u64),
    /// A variable-length integer has more than ten bytes.
    #[error("an integer has more than 64 bits")]
    Varint,
    /// A tag has field number zero or one above the maximum, or an unknown wire type.
    #[error("{0} is not the tag of a field")]
    Tag(u64),
    /// A group begins or ends. Kubernetes has none.
    #[error("groups are not supported")]
    Group,
    /// The wire type of a field differs from the schema's.
    #[error("wire type {found} instead of {expected}")]
    WireType {
        /// The wire type of the schema.
        expected: u8,
        /// The wire type in the message.
        found: u8,
    },
    /// A string is not UTF-8.
    #[error("the string is not UTF-8")]
    Utf8,
    /// Messages, lists and maps are nested more than 128 times.
    #[error("the message is nested too deeply")]
    TooDeep,
    /// A field that can be there once is there twice, or the elements of a list are not adjacent.
    /// Within times, quantities and entries of maps the last field counts.
    ///
    /// Other decoders merge such fields. Encoders write none, and a `Visitor` has received the
    /// first one when the second one is found.
    #[error("the field is there more than once")]
    Repeated,
    /// A time outside of the years 0 to 9999, which have four digits in JSON.
    #[error("the time is out of range")]
    Time,
    /// An `IntOrString` that is neither.
    #[error("{0} is not a type of IntOrString")]
    IntOrString(i64),
    /// A field that contains JSON contains something else, or JSON that the visitor refuses.
    #[error("JSON in a field: {0}")]
    Json(String),
    /// The body does not begin with `k8s\0`, which begins every protobuf answer of Kubernetes.
    #[error("not a protobuf body of Kubernetes")]
    Magic,
    /// A frame of a watch is empty, or longer than the caller accepts.
    #[error("a frame of a watch states {0} bytes")]
    Frame(u32),
    /// The table has no message for this kind.
    #[error("no schema for {kind} of {api_version}")]
    Schema {
        /// The `apiVersion` of the body.
        api_version: String,
        /// The `kind` of the body.
        kind: String,
    },
    /// The type needs serde_json's own deserializer, as `RawValue` does.
    #[error("{0} can only be decoded from JSON")]
    JsonOnly(&'static str),
    /// The type refused the value.
    #[error("{0}")]
    Custom(String),
}

impl Error {
    /// Returns what is wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the offset of the byte at which the problem was found, if it is known.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }

    /// Returns the path of the field, as `spec.containers[0].name`; empty at the outermost level.
    #[must_use]
    pub fn path(&self) -> String {
        let mut text = String::new();
        for segment in self.0.path.iter().rev() {
            if !text.is_empty() && !matches!(segment, Segment::Index(_)) {
                text.push('.');
            }
            match segment {
                Segment::Field(name) => text.push_str(name),
                Segment::Key(key) => text.push_str(key),
                Segment::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }

    /// An error at the first byte of `rest`.
    #[cold]
    pub(crate) fn at(kind: ErrorKind, rest: &[u8]) -> Self {
        Self::new(kind, Some(rest.as_ptr() as usize))
    }

    /// A field at `start` has another wire type than the schema's.
    #[cold]
    pub(crate) fn wire_type(expected: u8, found: u8, start: &[u8]) -> Self {
        Self::at(ErrorKind::WireType { expected, found }, start)
    }

    #[cold]
    pub(crate) fn without_place(kind: ErrorKind) -> Self {
        Self::new(kind, None)
    }

    fn new(kind: ErrorKind, address: Option<usize>) -> Self {
        Self(Box::new(Inner {
            kind,
            address,
            offset: None,
            path: Vec::new(),
        }))
    }

    /// Adds the field around the ones of the path.
    #[cold]
    pub(crate) fn within(mut self, segment: Segment) -> Self {
        self.0.path.push(segment);
        self
    }

    /// Adds the field around the ones of the path to the error of a result.
    ///
    /// The result is changed in place: it may contain an object of several kilobytes.
    #[inline]
    pub(crate) fn add<T>(result: &mut Result<T>, segment: impl FnOnce() -> Segment) {
        if let Err(error) = result {
            error.0.path.push(segment());
        }
    }

    /// Fixes the offset within the whole input.
    #[cold]
    pub(crate) fn in_input(mut self, input: &[u8]) -> Self {
        let start = input.as_ptr() as usize;
        let offset = self
            .0
            .address
            .and_then(|address| address.checked_sub(start));
        self.0.offset = offset.filter(|&offset| offset <= input.len());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot decode protobuf")?;
        if !self.0.path.is_empty() {
            write!(f, " at {}", self.path())?;
        }
        if let Some(offset) = self.0.offset {
            write!(f, ", byte {offset}")?;
        }
        write!(f, ": {}", self.0.kind)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("path", &self.path())
            .field("offset", &self.0.offset)
            .finish()
    }
}

impl std::error::Error for Error {}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::without_place(ErrorKind::Custom(message.to_string()))
    }
}
