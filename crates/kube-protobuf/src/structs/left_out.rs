//! What a decode leaves out of a struct.

use crate::decode::{Dropped, within};
use crate::schema::{Kind, Message};

/// What is left out within a value; `None` if all of it stays.
pub(super) type Within<'d> = Option<LeftOut<'d>>;

/// The fields that are left out within a value.
#[derive(Clone, Copy)]
pub(super) struct LeftOut<'d> {
    pub(super) node: &'d dyn Dropped,
    /// The message of the value, or of each element or entry; `None` for other values, and where
    /// the fields of the message are in another.
    message: Option<&'static Message>,
}

impl<'d> LeftOut<'d> {
    pub(super) fn new(node: &'d dyn Dropped, message: Option<&'static Message>) -> Self {
        Self { node, message }
    }

    /// The same for an inline message, whose fields have numbers of their own.
    pub(super) fn inline(self) -> Self {
        Self::new(self.node, None)
    }

    /// Returns a bit for the number of each field that may be left out, or that has fields that
    /// may be.
    #[inline]
    pub(super) fn fields(self) -> u64 {
        let found = self.message.and_then(|message| {
            let place = self.node.fields()?;
            place.of(message, self.node)
        });
        found.map_or(u64::MAX, |found| found.children)
    }

    fn message_of(self, number: u32) -> Option<&'static Message> {
        match self.message?.field(number)?.kind {
            Kind::Message(entry) => Some(entry.message()),
            _ => None,
        }
    }
}

/// Returns what is left out within a field; `None` if the field itself is.
#[inline]
pub(super) fn within_field<'d>(outer: Within<'d>, number: u32, name: &str) -> Option<Within<'d>> {
    let Some(outer) = outer else {
        return Some(None);
    };
    let node = within(Some(outer.node), name)?;
    Some(node.map(|node| LeftOut::new(node, outer.message_of(number))))
}

/// Returns what is left out within an entry of a map; `None` if the entry itself is.
#[inline]
pub(super) fn within_entry<'d>(outer: Within<'d>, key: &str) -> Option<Within<'d>> {
    let Some(outer) = outer else {
        return Some(None);
    };
    let node = within(Some(outer.node), key)?;
    Some(node.map(|node| LeftOut::new(node, outer.message)))
}
