//! A store as it was at one commit.
//!
//! A snapshot holds one state: its answers agree with each other and never change. It does not slow
//! the writer down, and it keeps removed objects alive, so do not hold one for ever.

use std::fmt;
use std::iter::FusedIterator;
use std::sync::Arc;

use derive_where::derive_where;

use crate::state::State;
use crate::table::records::Records;
use crate::table::shape::{Shape, Shipped};
use crate::{Cursor, Entry, Index, IndexError, ObjectKey, ResourceVersion, Scope};

/// Everything a store held at one commit. Cloning is O(1).
///
/// ```
/// use informer_store::{Entry, ObjectKey, store};
///
/// let (mut writer, reader) = store::<u32>();
/// let before = reader.snapshot();
/// writer.upsert(ObjectKey::new(None, "a")?, Entry::anonymous(1));
/// // A snapshot does not change.
/// assert_eq!((before.len(), reader.len()), (0, 1));
/// # Ok::<(), informer_store::KeyError>(())
/// ```
#[derive_where(Clone)]
pub struct Snapshot<T, S = Shipped> {
    pub(crate) state: Arc<State<T, S>>,
}

impl<T, S: Shape> Snapshot<T, S> {
    pub(crate) fn new(state: Arc<State<T, S>>) -> Self {
        Self { state }
    }

    /// The entry stored under a key (`namespace/name`, or `name` for cluster scope).
    ///
    /// The fastest look-up: the entry is borrowed, so no reference count in a distant cache line
    /// changes, as it does in [`StoreReader::get`].
    ///
    /// [`StoreReader::get`]: crate::StoreReader::get
    #[must_use]
    pub fn get(&self, key: impl AsRef<str>) -> Option<&Entry<T>> {
        let record = self.state.items.get(key.as_ref())?;
        Some(&record.entry)
    }

    /// Whether a key is stored.
    #[must_use]
    pub fn contains(&self, key: impl AsRef<str>) -> bool {
        self.get(key).is_some()
    }

    /// The number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.items.len()
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.items.is_empty()
    }

    /// All entries, in key order.
    pub fn iter(&self) -> Entries<'_, T, S> {
        Entries {
            records: self.state.items.iter(),
        }
    }

    /// The entries of one namespace, in key order; the others are not visited.
    pub fn namespace(&self, namespace: &str) -> Entries<'_, T, S> {
        Entries {
            records: self.state.items.namespace(namespace),
        }
    }

    /// The entries that have a value in an index, in key order; none for an unknown value.
    ///
    /// # Errors
    ///
    /// [`IndexError::UnknownIndex`].
    // IX-08
    pub fn by_index(&self, name: &str, value: &str) -> Result<Entries<'_, T, S>, IndexError> {
        Ok(Entries {
            records: self.state.bucket(Some(self.state.index(name)?), value),
        })
    }

    /// As [`by_index`](Self::by_index), for the handle of an index; none if it was removed.
    pub fn with(&self, index: &Index<T, S>, value: &str) -> Entries<'_, T, S> {
        Entries {
            records: self.state.bucket(self.state.index_by_id(index.id()), value),
        }
    }

    /// The keys that have a value in an index, sorted.
    ///
    /// # Errors
    ///
    /// [`IndexError::UnknownIndex`].
    // IX-08
    pub fn index_keys(
        &self,
        name: &str,
        value: &str,
    ) -> Result<impl Iterator<Item = &ObjectKey>, IndexError> {
        Ok(self.by_index(name, value)?.map(|(key, _)| key))
    }

    /// The values of an index that at least one object has, sorted.
    ///
    /// # Errors
    ///
    /// [`IndexError::UnknownIndex`].
    // IX-09
    pub fn index_values(&self, name: &str) -> Result<impl Iterator<Item = &Arc<str>>, IndexError> {
        Ok(self.state.index(name)?.values())
    }

    /// The number of the commit this is the result of, 0 before the first.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.state.sequence
    }

    /// Up to which version a source had been applied; `None` if none was set.
    #[must_use]
    pub fn version(&self, scope: &Scope) -> Option<&ResourceVersion> {
        self.state.versions.get(scope)
    }

    /// Turns the snapshot into an iterator that owns it.
    pub fn cursor(self) -> Cursor<T, S> {
        Cursor::new(self.state)
    }
}

impl<T, S: Shape> fmt::Debug for Snapshot<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.debug("Snapshot", f)
    }
}

impl<'a, T, S: Shape> IntoIterator for &'a Snapshot<T, S> {
    type Item = (&'a ObjectKey, &'a Entry<T>);
    type IntoIter = Entries<'a, T, S>;

    fn into_iter(self) -> Entries<'a, T, S> {
        self.iter()
    }
}

impl<T, S: Shape> IntoIterator for Snapshot<T, S> {
    type Item = (ObjectKey, Entry<T>);
    type IntoIter = Cursor<T, S>;

    fn into_iter(self) -> Cursor<T, S> {
        self.cursor()
    }
}

/// Keys and entries of a [`Snapshot`], in key order.
#[must_use = "iterators do nothing until they are asked"]
#[derive_where(Clone)]
pub struct Entries<'a, T, S = Shipped> {
    records: Records<'a, T, S>,
}

impl<'a, T, S: Shape> Iterator for Entries<'a, T, S> {
    type Item = (&'a ObjectKey, &'a Entry<T>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.records
            .next()
            .map(|record| (&record.key, &record.entry))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.records.size_hint()
    }

    #[inline]
    fn fold<A, F: FnMut(A, Self::Item) -> A>(self, first: A, mut pass: F) -> A {
        self.records.fold(first, |so_far, record| {
            pass(so_far, (&record.key, &record.entry))
        })
    }
}

impl<T, S: Shape> ExactSizeIterator for Entries<'_, T, S> {}

impl<T, S: Shape> FusedIterator for Entries<'_, T, S> {}

impl<T, S: Shape> fmt::Debug for Entries<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries")
            .field("left", &self.len())
            .finish()
    }
}
