//! Mutations that readers shall see at once, and where they come from.
//!
//! A batch is a plain list: nothing happens until the writer commits it, and operations count in
//! the order in which they were added, so a later one on the same key wins.

use std::sync::Arc;

use derive_where::derive_where;

use crate::table::record::Draft;
use crate::write::pieces::Pieces;
use crate::{Entry, ObjectKey, ResourceVersion};

/// A source of objects: the whole cluster, or one namespace of it.
///
/// Several sources may share one store; replacing one leaves the others alone.
///
/// Exhaustive on purpose: a caller that turns a scope into a request has no safe answer for a kind
/// of source that it does not know.
// STX-3, FM-14
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new kind of source must be seen by every caller"
)]
pub enum Scope {
    /// Every key.
    All,
    /// The keys of one namespace.
    Namespace(Arc<str>),
}

impl Scope {
    /// Whether a key belongs to this source.
    #[must_use]
    pub fn covers(&self, key: &ObjectKey) -> bool {
        match self {
            Self::All => true,
            Self::Namespace(namespace) => key.namespace() == Some(&**namespace),
        }
    }
}

/// Mutations that become visible at once; see [`StoreWriter::commit`](crate::StoreWriter::commit).
///
/// ```
/// use informer_store::{Batch, Entry, ObjectKey, Scope, store};
///
/// let (mut writer, reader) = store::<u32>();
/// let mut batch = Batch::new();
/// batch.upsert(ObjectKey::new(None, "a")?, Entry::anonymous(1));
/// batch.remove(ObjectKey::new(None, "b")?);
/// batch.set_version(Scope::All, "7".into());
/// assert!(reader.is_empty(), "nothing happens before the commit");
/// assert_eq!(writer.commit(batch).inserted, 1);
/// assert_eq!(reader.version(&Scope::All), Some("7".into()));
/// # Ok::<(), informer_store::KeyError>(())
/// ```
#[must_use = "a batch does nothing until it is committed"]
#[doc(alias = "Transaction")]
#[derive_where(Debug, Default)]
pub struct Batch<T> {
    pub(crate) operations: Pieces<Operation<T>>,
}

#[derive_where(Debug)]
pub(crate) enum Operation<T> {
    Upsert(Draft<T>),
    Remove {
        key: ObjectKey,
    },
    Replace {
        scope: Scope,
        #[derive_where(skip(Debug))]
        entries: Vec<(ObjectKey, Entry<T>)>,
    },
    SetVersion {
        scope: Scope,
        version: ResourceVersion,
    },
    ClearVersion {
        scope: Scope,
    },
}

impl<T> Batch<T> {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty batch with room for so many operations.
    pub fn with_capacity(operations: usize) -> Self {
        Self {
            operations: Pieces::with_capacity(operations),
        }
    }

    /// Stores an entry, whether or not the key is known.
    // ST-02
    pub fn upsert(&mut self, key: ObjectKey, entry: Entry<T>) {
        let draft = Draft::new(key, entry);
        self.operations.push(Operation::Upsert(draft));
    }

    /// Removes a key; nothing happens if it is not stored.
    // ST-03
    #[doc(alias = "Delete")]
    pub fn remove(&mut self, key: ObjectKey) {
        self.operations.push(Operation::Remove { key });
    }

    /// Makes the keys of one source exactly those of the list.
    ///
    /// The last of several entries with one key wins. An entry whose key the scope does not cover
    /// is refused and counted in [`Commit::refused`](crate::Commit::refused), since storing it
    /// would touch another source.
    // ST-05, STX-3
    pub fn replace(&mut self, scope: Scope, entries: Vec<(ObjectKey, Entry<T>)>) {
        self.operations.push(Operation::Replace { scope, entries });
    }

    /// Sets the version up to which a source has been applied; readers see it with the rest.
    #[doc(alias = "Bookmark")]
    pub fn set_version(&mut self, scope: Scope, version: ResourceVersion) {
        self.operations
            .push(Operation::SetVersion { scope, version });
    }

    /// Removes the applied version of a source that is no longer watched.
    pub fn clear_version(&mut self, scope: Scope) {
        self.operations.push(Operation::ClearVersion { scope });
    }

    /// Whether no operation was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of operations added; a replacement and a version count as one each.
    #[must_use]
    pub fn len(&self) -> usize {
        self.operations.len()
    }
}
