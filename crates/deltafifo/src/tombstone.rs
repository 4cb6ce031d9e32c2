//! What is known of an object that is gone.
//!
//! A deletion that was watched carries the final state. One that was only noticed, because a
//! relist left the object out, carries at best the last state anybody saw, and that may be
//! old. The enum makes the difference impossible to overlook.

// FM-46

use derive_where::derive_where;

/// The last state known of a deleted object. Exhaustive on purpose: a consumer cannot overlook that
/// the final state may be unknown.
// client-go: C-08, DF-07
#[doc(alias = "DeletedFinalStateUnknown")]
#[derive(Clone, PartialEq, Eq)]
#[derive_where(Debug)]
pub enum Final<V> {
    /// The deletion was watched, and this is the state at the deletion.
    #[derive_where(skip_inner(Debug))]
    Observed(V),
    /// The deletion was not watched; the newest state known, which may be stale, or nothing.
    #[derive_where(skip_inner(Debug))]
    Unknown(Option<V>),
}

impl<V> Final<V> {
    /// The newest state known, final or not.
    pub fn last(&self) -> Option<&V> {
        match self {
            Self::Observed(v) => Some(v),
            Self::Unknown(v) => v.as_ref(),
        }
    }

    /// Whether the state is the one at the deletion.
    pub fn is_observed(&self) -> bool {
        matches!(self, Self::Observed(_))
    }

    /// Merges a later report of the same deletion into this one, and returns the one that is not
    /// kept.
    // DF-05, FQ-4: the better informed one is kept; between equals the older final state, and the
    // newer tombstone.
    pub(crate) fn merge(&mut self, newer: Self) -> Self {
        match (&*self, &newer) {
            (Self::Observed(_), _) | (Self::Unknown(Some(_)), Self::Unknown(None)) => newer,
            (Self::Unknown(_), _) => std::mem::replace(self, newer),
        }
    }
}
