//! Lists: their metadata, and their items as bytes.

use std::fmt;
use std::iter::FusedIterator;

use crate::error::{Error, ErrorKind, Result};
use crate::wire;

/// One part of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListPart<'a> {
    /// The `meta/v1.ListMeta`. API servers write it before the items.
    Metadata(&'a [u8]),
    /// The message of one item, without `apiVersion` and `kind`.
    Item(&'a [u8]),
}

/// The parts of a list, as an iterator over the bytes of its message.
///
/// Every kind of list has the same two fields. The items are not decoded; [`Schema::item`] of the
/// list's schema is the schema of each.
///
/// [`Schema::item`]: crate::Schema::item
///
/// ```
/// use informer_kube_protobuf::{ListPart, ListParts};
///
/// let list = [10, 2, 18, 0, 18, 0, 18, 0];
/// let parts: Vec<ListPart> = ListParts::new(&list).collect::<Result<_, _>>()?;
/// assert_eq!(parts, [ListPart::Metadata(&[18, 0]), ListPart::Item(&[]), ListPart::Item(&[])]);
/// # Ok::<(), informer_kube_protobuf::Error>(())
/// ```
#[derive(Clone)]
pub struct ListParts<'a> {
    rest: &'a [u8],
    list: &'a [u8],
    has_metadata: bool,
}

impl<'a> ListParts<'a> {
    /// Iterates over the message of a list: the `raw` of its [`Envelope`](crate::Envelope).
    #[must_use]
    pub fn new(list: &'a [u8]) -> Self {
        Self {
            rest: list,
            list,
            has_metadata: false,
        }
    }

    fn advance(&mut self) -> Result<Option<ListPart<'a>>> {
        while !self.rest.is_empty() {
            let start = self.rest;
            match wire::tag(&mut self.rest)? {
                (1, wire::BYTES) if std::mem::replace(&mut self.has_metadata, true) => {
                    return Err(Error::at(ErrorKind::Repeated, start));
                }
                (1, wire::BYTES) => {
                    return wire::bytes(&mut self.rest)
                        .map(ListPart::Metadata)
                        .map(Some);
                }
                (2, wire::BYTES) => {
                    return wire::bytes(&mut self.rest).map(ListPart::Item).map(Some);
                }
                (1 | 2, found) => {
                    return Err(Error::wire_type(wire::BYTES, found, start));
                }
                (_, wire) => wire::skip(&mut self.rest, wire)?,
            }
        }
        Ok(None)
    }
}

impl<'a> Iterator for ListParts<'a> {
    type Item = Result<ListPart<'a>>;

    /// Returns the next part. After an error there is none.
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        if next.is_err() {
            self.rest = &[];
        }
        next.map_err(|error| error.in_input(self.list)).transpose()
    }
}

impl FusedIterator for ListParts<'_> {}

impl fmt::Debug for ListParts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListParts")
            .field("left", &self.rest.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ListPart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, bytes) = match self {
            Self::Metadata(bytes) => ("Metadata", bytes),
            Self::Item(bytes) => ("Item", bytes),
        };
        write!(f, "{name}({} bytes)", bytes.len())
    }
}
