//! Notifications: an object appeared, changed or was deleted.
//!
//! A notification is made once and shared by all listeners (`Arc<Notification>`), and so are the
//! objects in it. It carries no version and no identity, and the processor does not depend on the
//! type of an object.

// - FM-46: a handler cannot forget that the final state of a deleted object may be unknown.

use std::fmt::{self, Debug};
use std::hash::Hash;
use std::sync::Arc;

use derive_where::derive_where;

/// The key of an object. Implemented for every type that meets the bounds.
///
/// `Hash`, `Eq` and `Clone` of a key run under a listener's lock. They must neither call the
/// processor nor panic. `Debug` is required because a panic of a handler is logged with the key.
// FM-66.
pub trait Key: Clone + Eq + Hash + Debug + Send + Sync + 'static {}

impl<K: Clone + Eq + Hash + Debug + Send + Sync + 'static> Key for K {}

/// Why an update was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// The change was seen when it happened.
    Watch,
    /// The change was found by comparing with a fresh list.
    Relist,
    /// Nothing changed: the listener has a resync period.
    #[doc(alias = "Sync")]
    Resync,
}

/// An object appeared, changed or was deleted. Exhaustive on purpose: a handler handles all three.
///
/// ```
/// use informer_processor::{Added, Notification};
///
/// let change = Notification::from(Added::new("a", 1.into()).initial(true));
/// assert_eq!((change.key(), change.object().map(|object| **object)), (&"a", Some(1)));
/// assert!(change.is_initial());
/// ```
#[derive_where(Clone; K)]
pub enum Notification<K, T> {
    /// An object appeared.
    Added(Added<K, T>),
    /// An object changed, or is announced again.
    Updated(Updated<K, T>),
    /// An object was deleted.
    Deleted(Deleted<K, T>),
}

impl<K, T> Notification<K, T> {
    /// The key of the object.
    pub fn key(&self) -> &K {
        match self {
            Self::Added(added) => &added.key,
            Self::Updated(updated) => &updated.key,
            Self::Deleted(deleted) => deleted.key(),
        }
    }

    /// The object as it is now; `None` if it was deleted.
    pub fn object(&self) -> Option<&Arc<T>> {
        match self {
            Self::Added(added) => Some(&added.object),
            Self::Updated(updated) => Some(&updated.new),
            Self::Deleted(_) => None,
        }
    }

    /// The last known state of the object, deleted or not; `None` if no state was ever seen.
    pub fn last(&self) -> Option<&Arc<T>> {
        match self {
            Self::Added(_) | Self::Updated(_) => self.object(),
            Self::Deleted(deleted) => deleted.last(),
        }
    }

    /// Whether this is one of the objects that were there when the listener started.
    #[doc(alias = "isInInitialList")]
    pub fn is_initial(&self) -> bool {
        matches!(self, Self::Added(added) if added.initial)
    }
}

impl<K: Debug, T> Debug for Notification<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added(added) => added.fmt(f),
            Self::Updated(updated) => updated.fmt(f),
            Self::Deleted(deleted) => f.debug_tuple("Deleted").field(deleted).finish(),
        }
    }
}

/// An object that appeared.
///
/// ```
/// use std::sync::Arc;
/// use informer_processor::{Added, Notification};
///
/// let added: Notification<&str, u32> = Added::new("a", Arc::new(1)).initial(true).into();
/// assert!(added.is_initial());
/// assert_eq!(added.key(), &"a");
/// ```
#[doc(alias("InitApply", "OnAdd"))]
// SEC-6: `Debug` leaves out objects, which may hold secrets.
#[derive_where(Clone; K)]
#[derive_where(Debug; K)]
#[non_exhaustive]
pub struct Added<K, T> {
    /// The object's key.
    pub key: K,
    /// The object.
    #[derive_where(skip(Debug))]
    pub object: Arc<T>,
    /// Whether the object was there when the listener started.
    #[doc(alias = "isInInitialList")]
    pub initial: bool,
}

impl<K, T> Added<K, T> {
    /// An object that appeared after the listener had started.
    pub fn new(key: K, object: Arc<T>) -> Self {
        Self {
            key,
            object,
            initial: false,
        }
    }

    /// Sets whether the object was there when the listener started.
    #[must_use]
    pub fn initial(mut self, initial: bool) -> Self {
        self.initial = initial;
        self
    }
}

/// An object that changed, or is announced again.
#[doc(alias("Apply", "OnUpdate"))]
#[derive_where(Clone; K)]
#[derive_where(Debug; K)]
#[non_exhaustive]
pub struct Updated<K, T> {
    /// The object's key.
    pub key: K,
    /// The state that was delivered before.
    // PR-3.
    #[derive_where(skip(Debug))]
    pub old: Arc<T>,
    /// The state now.
    #[derive_where(skip(Debug))]
    pub new: Arc<T>,
    /// The reason for the notification.
    pub cause: Cause,
}

impl<K, T> Updated<K, T> {
    /// A change from one state to another.
    pub fn new(key: K, old: Arc<T>, new: Arc<T>, cause: Cause) -> Self {
        Self {
            key,
            old,
            new,
            cause,
        }
    }
}

/// Makes a notification of what happened.
macro_rules! into_notification {
    ($($type:ident)*) => {$(
        impl<K, T> From<$type<K, T>> for Notification<K, T> {
            fn from(happened: $type<K, T>) -> Self {
                Self::$type(happened)
            }
        }
    )*};
}

into_notification!(Added Updated Deleted);

/// The end of an object for a handler: a deletion, with the final state if it was seen, or a move
/// out of what this replica receives.
///
/// Exhaustive on purpose: a handler cannot forget one of the cases.
///
/// ```
/// use informer_processor::Deleted;
///
/// fn describe(deleted: &Deleted<String, u32>) -> String {
///     match deleted {
///         Deleted::Known { key, last } => format!("{key} was deleted as {last}"),
///         Deleted::Unknown { key, last } => format!("{key} was deleted after {last:?}"),
///         Deleted::MovedAway { key, .. } => format!("{key} belongs to another replica"),
///     }
/// }
/// # let _ = describe;
/// ```
///
/// ```compile_fail,E0005
/// use informer_processor::Deleted;
///
/// fn last(deleted: &Deleted<String, u32>) -> u32 {
///     let Deleted::Known { last, .. } = deleted;
///     **last
/// }
/// ```
#[doc(alias = "DeletedFinalStateUnknown")]
#[derive_where(Clone; K)]
#[derive_where(Debug; K)]
pub enum Deleted<K, T> {
    /// The deletion was seen, and with it the final state.
    Known {
        /// The object's key.
        key: K,
        /// The state in which the object was deleted. It may be newer than the last one delivered.
        #[derive_where(skip(Debug))]
        last: Arc<T>,
    },
    /// The deletion was missed: the object is gone, its final state was never seen.
    Unknown {
        /// The object's key.
        key: K,
        /// The state that the handler was notified of last, if the object was ever seen. Also for a
        /// handler that coalesces: a merged update does not change it.
        #[derive_where(skip(Debug))]
        last: Option<Arc<T>>,
    },
    /// The object left the part of the collection that this replica receives, such as its shard.
    /// It still exists elsewhere, so that a handler must forget it and must not clean up after it.
    ///
    /// No source of this project sends it yet.
    MovedAway {
        /// The object's key.
        key: K,
        /// The state in which the object left. It may be newer than the last one delivered.
        #[derive_where(skip(Debug))]
        last: Arc<T>,
    },
}

impl<K, T> Deleted<K, T> {
    /// The key of the object.
    pub fn key(&self) -> &K {
        match self {
            Self::Known { key, .. } | Self::Unknown { key, .. } | Self::MovedAway { key, .. } => {
                key
            }
        }
    }

    /// The final state if it was seen, or the one in which the object moved away; else the state
    /// notified of last, if there was one.
    pub fn last(&self) -> Option<&Arc<T>> {
        match self {
            Self::Known { last, .. } | Self::MovedAway { last, .. } => Some(last),
            Self::Unknown { last, .. } => last.as_ref(),
        }
    }
}
