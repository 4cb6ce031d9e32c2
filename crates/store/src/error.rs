//! What can be wrong with the name of an index.

use std::sync::Arc;

/// Why an index could not be asked, added or removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// No index has this name (IX-08).
    #[error("no index is named {name:?}; known: {known:?}")]
    UnknownIndex {
        /// The name asked for.
        name: Arc<str>,
        /// The names there are, in the order in which they were added.
        known: Vec<Arc<str>>,
    },
    /// Another index has this name; nothing was added (IX-10).
    #[error("an index is already named {name:?}")]
    NameTaken {
        /// The name.
        name: Arc<str>,
    },
}
