//! Fields that a decode or a copy leaves out.

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
