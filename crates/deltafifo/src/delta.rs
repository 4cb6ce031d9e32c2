//! One change of one object, as it waits in a queue.
//!
//! The enum is exhaustive on purpose: a new kind must not compile where deltas are applied. It does
//! not say whether the object is new to the consumer: what
//! the consumer holds decides add or update, not the kind.

// PD-01
// - SEC-6: `Debug` shows the kind and never the object. Tested in `tests/auto_traits.rs`.

use std::fmt;

use crate::tombstone::Final;

/// One change of one object. Exhaustive on purpose: a consumer must handle all kinds.
// client-go: DF-03, DF-07, DF-13
#[doc(alias = "DeltaType")]
#[derive(Clone, PartialEq, Eq)]
pub enum Delta<V> {
    /// The watch said that the object is new.
    Added(V),
    /// The watch said that the object changed.
    Updated(V),
    /// The object is gone; how much is known of its last state is in the [`Final`].
    Deleted(Final<V>),
    /// The object was in a relist: new, changed or unchanged.
    Replaced(V),
    /// The consumer already holds this object and is reminded of it (resync).
    Sync(V),
}

impl<V> Delta<V> {
    /// The object after the change, or the last known state of a deleted one.
    ///
    /// `None` only for a deletion whose last state nobody knows.
    pub fn object(&self) -> Option<&V> {
        match self {
            Self::Added(v) | Self::Updated(v) | Self::Replaced(v) | Self::Sync(v) => Some(v),
            Self::Deleted(last) => last.last(),
        }
    }

    /// Whether the object is gone after this change.
    pub fn is_deleted(&self) -> bool {
        matches!(self, Self::Deleted(_))
    }

    /// The name of the kind, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Added(_) => "Added",
            Self::Updated(_) => "Updated",
            Self::Deleted(_) => "Deleted",
            Self::Replaced(_) => "Replaced",
            Self::Sync(_) => "Sync",
        }
    }
}

impl<V> fmt::Debug for Delta<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deleted(last) => f.debug_tuple("Deleted").field(last).finish(),
            other => f.write_str(other.kind()),
        }
    }
}
