//! Fields that a decode or a copy leaves out.

use std::fmt;
use std::sync::OnceLock;

use crate::schema::{Message, Shape};

/// A tree of the fields that are left out, by the names that JSON has.
///
/// [`Deserializer::without`](crate::Deserializer::without) decodes without them and
/// [`copy_without`](crate::copy_without) copies without them. The entries of a map are children by
/// their key. The elements of a list have no names: the fields of each element are the children of
/// the list.
///
/// `Sync`, so that a deserializer with dropped fields can be sent to another thread.
pub trait Dropped: Sync {
    /// Returns what is dropped within the field or entry of this name; `None` if all of it stays.
    fn child(&self, name: &str) -> Option<&dyn Dropped>;

    /// Whether the field or entry itself is dropped.
    fn is_dropped(&self) -> bool;

    /// Returns a place for the fields that are dropped, which belongs to this node.
    ///
    /// With a place, [`child`](Self::child) is called once for each field of a message, and not for
    /// each field of each object. Replace the place by a new one when the children change. The
    /// default is `None`.
    fn fields(&self) -> Option<&DroppedFields> {
        None
    }
}

/// The fields of a message that are dropped, once a deserializer has found them.
///
/// See [`Dropped::fields`]. A clone is empty, so that it can belong to another node.
#[derive(Default)]
pub struct DroppedFields(OnceLock<Found>);

/// The dropped fields of one message.
#[derive(Clone, Copy)]
pub(super) struct Found {
    message: &'static Message,
    /// A bit for the number of each field that is dropped.
    pub(super) dropped: u64,
    /// A bit for the number of each field that is dropped, and of each within which something is.
    pub(super) children: u64,
}

impl DroppedFields {
    /// Creates an empty place.
    #[must_use]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Returns what `node` drops of a message. `None` if the place has what it drops of another.
    #[inline]
    pub(super) fn of(&self, message: &'static Message, node: &dyn Dropped) -> Option<&Found> {
        let found = self.0.get_or_init(|| Found::new(message, node));
        std::ptr::eq(found.message, message).then_some(found)
    }
}

impl Found {
    #[cold]
    fn new(message: &'static Message, node: &dyn Dropped) -> Self {
        let (mut dropped, mut children) = (0, 0);
        for field in message.fields() {
            // An inline message has no name of its own: its fields are among the others.
            if field.shape != Shape::Inline
                && let Some(child) = node.child(field.name)
            {
                children |= 1 << field.number;
                dropped |= u64::from(child.is_dropped()) << field.number;
            }
        }
        Self {
            message,
            dropped,
            children,
        }
    }
}

impl Clone for DroppedFields {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl fmt::Debug for DroppedFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DroppedFields").finish_non_exhaustive()
    }
}

/// Returns a bit for the number of each field of a message that `node` drops, or within which it
/// drops something. All bits if `node` has no place for those of this message.
#[inline]
pub(crate) fn children_of(node: &dyn Dropped, message: &'static Message) -> u64 {
    let found = node.fields().and_then(|place| place.of(message, node));
    found.map_or(u64::MAX, |found| found.children)
}

/// What is dropped within a value; `None` if all of it stays.
pub(crate) type Within<'a> = Option<&'a dyn Dropped>;

/// Returns what is dropped within a member of a value; `None` if the member itself is.
#[inline]
pub(crate) fn within<'a>(dropped: Within<'a>, name: &str) -> Option<Within<'a>> {
    match dropped.and_then(|dropped| dropped.child(name)) {
        Some(child) if child.is_dropped() => None,
        within => Some(within),
    }
}
