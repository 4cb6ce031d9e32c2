//! Envelopes: what is around an object in an answer, in a watch and in a list.

use std::fmt;

use serde::de::Deserialize;

use crate::decode::Deserializer;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::Schema;
use crate::wire;

/// The first bytes of every protobuf body of Kubernetes.
pub(crate) const MAGIC: &[u8] = b"k8s\0";

/// A body: an object with its `apiVersion` and `kind`.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// The `apiVersion` of the object.
    pub api_version: &'a str,
    /// The `kind` of the object.
    pub kind: &'a str,
    /// The message of the object, without `apiVersion` and `kind`.
    pub raw: &'a [u8],
    type_meta: &'a [u8],
    body: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Splits a body: `k8s\0`, then a `runtime.Unknown`.
    ///
    /// # Errors
    ///
    /// The body does not begin with the magic bytes, or its message is missing or damaged.
    pub fn parse(body: &'a [u8]) -> Result<Self> {
        Self::read(body).map_err(|error| error.in_input(body))
    }

    fn read(body: &'a [u8]) -> Result<Self> {
        let Some(rest) = body.strip_prefix(MAGIC) else {
            return Err(Error::at(ErrorKind::Magic, body));
        };
        if rest.is_empty() {
            return Err(Error::at(ErrorKind::Truncated, rest));
        }
        let [type_meta, raw] = two_fields(rest, wire::bytes)?;
        let [api_version, kind] = two_fields(type_meta, wire::text)?;
        Ok(Self {
            api_version,
            kind,
            raw,
            type_meta,
            body,
        })
    }

    /// Returns the schema of the object, if its kind is built in.
    #[must_use]
    pub fn schema(&self) -> Option<Schema> {
        Schema::of(self.api_version, self.kind)
    }

    /// Decodes the object, with its `apiVersion` and `kind`.
    ///
    /// # Errors
    ///
    /// The kind is not built in, the bytes are no message of its schema, or `T` refuses a value.
    pub fn decode<T: Deserialize<'a>>(&self) -> Result<T> {
        let Some(schema) = self.schema() else {
            return Err(Error::at(
                ErrorKind::Schema {
                    api_version: self.api_version.to_owned(),
                    kind: self.kind.to_owned(),
                },
                self.raw,
            )
            .in_input(self.body));
        };
        let deserializer = Deserializer::with_type_meta(schema, self.raw, self.type_meta);
        T::deserialize(deserializer).map_err(|error| error.in_input(self.body))
    }
}

/// Reads the fields 1 and 2 of a message, which have a length. Other fields are skipped.
fn two_fields<'a, T: Default>(
    mut rest: &'a [u8],
    read: impl Fn(&mut &'a [u8]) -> Result<T>,
) -> Result<[T; 2]> {
    let mut fields = [None, None];
    while !rest.is_empty() {
        let start = rest;
        let slot = match wire::tag(&mut rest)? {
            (1, wire::BYTES) => &mut fields[0],
            (2, wire::BYTES) => &mut fields[1],
            (1 | 2, found) => return Err(Error::wire_type(wire::BYTES, found, start)),
            (_, wire) => {
                wire::skip(&mut rest, wire)?;
                continue;
            }
        };
        if slot.replace(read(&mut rest)?).is_some() {
            return Err(Error::at(ErrorKind::Repeated, start));
        }
    }
    Ok(fields.map(Option::unwrap_or_default))
}

/// Shows the kind and the length: the object may contain secrets.
impl fmt::Debug for Envelope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope")
            .field("api_version", &self.api_version)
            .field("kind", &self.kind)
            .field("raw", &format_args!("{} bytes", self.raw.len()))
            .finish_non_exhaustive()
    }
}
