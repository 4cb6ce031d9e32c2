//! What a handler is told: an object appeared, changed or ended.
//!
//! A notification is made once and shared by all listeners (`Arc<Notification>`); objects in it are
//! shared too. It carries no version and no identity: the processor has never heard of either.

use std::fmt;
use std::sync::Arc;

use crate::deleted::Deleted;

/// Why an update was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The change was seen when it happened.
    Watch,
    /// The change was found by comparing with a fresh list.
    Relist,
    /// Nothing changed: this listener asked to be reminded from time to time (FM-71).
    #[doc(alias = "Sync")]
    Resync,
}

/// One thing that happened to one object.
pub enum Notification<K, T> {
    /// An object appeared.
    Added {
        /// The object's key.
        key: K,
        /// The object.
        object: Arc<T>,
        /// True for the objects that were there when the listener started (PR-8).
        #[doc(alias = "isInInitialList")]
        initial: bool,
    },
    /// An object changed, or is announced again.
    Updated {
        /// The object's key.
        key: K,
        /// The state delivered before (PR-3).
        old: Arc<T>,
        /// The state now.
        new: Arc<T>,
        /// Why this was sent.
        cause: Cause,
    },
    /// An object ended.
    Deleted(Deleted<K, T>),
}

impl<K, T> Notification<K, T> {
    /// The key of the object.
    pub fn key(&self) -> &K {
        match self {
            Self::Added { key, .. } | Self::Updated { key, .. } => key,
            Self::Deleted(deleted) => deleted.key(),
        }
    }

    /// Whether this is one of the objects that were there when the listener started.
    pub(crate) fn is_initial(&self) -> bool {
        matches!(self, Self::Added { initial: true, .. })
    }
}

// By hand, since a derive would ask for `T: Clone`.
impl<K: Clone, T> Clone for Notification<K, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Added {
                key,
                object,
                initial,
            } => Self::Added {
                key: key.clone(),
                object: Arc::clone(object),
                initial: *initial,
            },
            Self::Updated {
                key,
                old,
                new,
                cause,
            } => Self::Updated {
                key: key.clone(),
                old: Arc::clone(old),
                new: Arc::clone(new),
                cause: *cause,
            },
            Self::Deleted(deleted) => Self::Deleted(deleted.clone()),
        }
    }
}

// By hand, since a payload may be a secret (SEC-6).
impl<K: fmt::Debug, T> fmt::Debug for Notification<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added { key, initial, .. } => f
                .debug_struct("Added")
                .field("key", key)
                .field("initial", initial)
                .finish_non_exhaustive(),
            Self::Updated { key, cause, .. } => f
                .debug_struct("Updated")
                .field("key", key)
                .field("cause", cause)
                .finish_non_exhaustive(),
            Self::Deleted(deleted) => f.debug_tuple("Deleted").field(deleted).finish(),
        }
    }
}
