//! The end of an object, with the unknown final state impossible to forget (FM-46).
//!
//! Whoever handles a deletion has to say what to do when nobody saw the final state: the two cases
//! are two variants, not a wrapper found by a type assertion.

use std::fmt;
use std::sync::Arc;

/// How an object ended, as far as it is known.
///
/// A handler cannot forget the second case:
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
pub enum Deleted<K, T> {
    /// The deletion was seen, and with it the final state.
    Known {
        /// The object's key.
        key: K,
        /// The state in which the object was deleted. It may be newer than the last one delivered.
        last: Arc<T>,
    },
    /// The deletion was missed: the object is gone, its final state was never seen.
    Unknown {
        /// The object's key.
        key: K,
        /// The state that the handler was notified of last, if the object was ever seen. Also for a
        /// handler that coalesces: a merged update does not change it.
        last: Option<Arc<T>>,
    },
}

impl<K, T> Deleted<K, T> {
    /// The key of the object that ended.
    pub fn key(&self) -> &K {
        match self {
            Self::Known { key, .. } | Self::Unknown { key, .. } => key,
        }
    }

    /// The final state if it was seen, else the state notified of last, if there was one.
    pub fn last(&self) -> Option<&Arc<T>> {
        match self {
            Self::Known { last, .. } => Some(last),
            Self::Unknown { last, .. } => last.as_ref(),
        }
    }
}

// By hand, since a derive would ask for `T: Clone`.
impl<K: Clone, T> Clone for Deleted<K, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Known { key, last } => Self::Known {
                key: key.clone(),
                last: Arc::clone(last),
            },
            Self::Unknown { key, last } => Self::Unknown {
                key: key.clone(),
                last: last.clone(),
            },
        }
    }
}

// By hand, since a payload may be a secret (SEC-6).
impl<K: fmt::Debug, T> fmt::Debug for Deleted<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Known { .. } => "Known",
            Self::Unknown { .. } => "Unknown",
        };
        f.debug_struct(name)
            .field("key", self.key())
            .finish_non_exhaustive()
    }
}
