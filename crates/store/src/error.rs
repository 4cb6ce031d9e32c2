//! Why an index or a batch was not taken.

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::ObjectKey;

/// Objects of a batch give an index more values than are allowed; nothing was stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} objects give an index over {most} values, the first is {:?}", keys.len(), keys.first())]
#[non_exhaustive]
pub struct TooManyValues {
    /// How many values one object may give one index.
    pub most: NonZeroUsize,
    /// The keys of the objects, sorted.
    pub keys: Vec<ObjectKey>,
}

/// Why an index could not be asked, added or removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// No index has this name.
    // IX-08
    #[error("no index is named {name:?}; known: {known:?}")]
    UnknownIndex {
        /// The name asked for.
        name: Arc<str>,
        /// The names there are, in the order in which they were added.
        known: Vec<Arc<str>>,
    },
    /// Another index has this name; nothing was added.
    // IX-10
    #[error("an index is already named {name:?}")]
    NameTaken {
        /// The name.
        name: Arc<str>,
    },
}
