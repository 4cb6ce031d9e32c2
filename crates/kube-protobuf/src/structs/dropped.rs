//! The fields that a decode drops from a struct.

use crate::decode::{Dropped, children_of, within};
use crate::schema::Message;

/// The fields that are dropped within a value; `None` if the decode keeps all of it.
pub(super) type Within<'d> = Option<DroppedWithin<'d>>;

/// The fields that are dropped within a value, and the message that has them.
#[derive(Clone, Copy)]
pub(super) struct DroppedWithin<'d> {
    node: &'d dyn Dropped,
    /// The message of the value, or of each element or entry. `None` for other values, and for an
    /// inline message, whose fields have numbers of their own.
    message: Option<&'static Message>,
}

impl<'d> DroppedWithin<'d> {
    pub(super) fn new(node: &'d dyn Dropped, message: Option<&'static Message>) -> Self {
        Self { node, message }
    }

    /// Returns the same for an inline message of the value.
    pub(super) fn inline(self) -> Self {
        Self::new(self.node, None)
    }

    /// Returns a bit for the number of each field that is dropped, or within which something is.
    /// All bits if the numbers are not known.
    #[inline]
    pub(super) fn children(self) -> u64 {
        let message = self.message;
        message.map_or(u64::MAX, |message| children_of(self.node, message))
    }
}

/// Returns what is dropped within a field; `None` if the field itself is.
#[inline]
pub(super) fn within_field<'d>(outer: Within<'d>, number: u32, name: &str) -> Option<Within<'d>> {
    let Some(DroppedWithin { node, message }) = outer else {
        return Some(None);
    };
    let of_field = || Some(message?.of_field(number)?.fields());
    let within = within(Some(node), name)?;
    Some(within.map(|node| DroppedWithin::new(node, of_field())))
}

/// Returns what is dropped within an entry of a map; `None` if the entry itself is.
#[inline]
pub(super) fn within_entry<'d>(outer: Within<'d>, key: &str) -> Option<Within<'d>> {
    let Some(DroppedWithin { node, message }) = outer else {
        return Some(None);
    };
    let within = within(Some(node), key)?;
    Some(within.map(|node| DroppedWithin::new(node, message)))
}
