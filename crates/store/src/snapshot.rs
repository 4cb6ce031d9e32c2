//! A store as it was at one commit.
//!
//! A snapshot holds one state: its answers agree with each other and never change. It costs the
//! writer nothing, and keeps alive what has been removed since, so do not hold one for ever.

use std::fmt;
use std::iter::FusedIterator;
use std::sync::Arc;

use crate::records::Records;
use crate::state::State;
use crate::{Cursor, Entry, Index, IndexError, ObjectKey, ResourceVersion, Scope};

/// Everything a store held at one commit. Cloning is O(1).
pub struct Snapshot<T> {
    state: Arc<State<T>>,
}

impl<T> Snapshot<T> {
    pub(crate) fn new(state: Arc<State<T>>) -> Self {
        Self { state }
    }

    /// The entry stored under a key (`namespace/name`, or `name` for cluster scope).
    ///
    /// The fastest way to look something up: the entry is borrowed, so no count in a far part of
    /// memory is changed, as it is for an object to keep ([`StoreReader::get`]).
    ///
    /// [`StoreReader::get`]: crate::StoreReader::get
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Entry<T>> {
        self.state.items.get(key).map(|record| &record.entry)
    }

    /// Whether a key is stored.
    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        self.state.items.get(key).is_some()
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
    pub fn iter(&self) -> Entries<'_, T> {
        Entries {
            records: self.state.items.iter(),
        }
    }

    /// The entries of one namespace, in key order; does not walk the others.
    pub fn namespace(&self, namespace: &str) -> Entries<'_, T> {
        Entries {
            records: self.state.items.namespace(namespace),
        }
    }

    /// The entries that have a value in an index, in key order; none for an unknown value (IX-08).
    ///
    /// # Errors
    ///
    /// [`IndexError::UnknownIndex`].
    pub fn by_index(&self, name: &str, value: &str) -> Result<Entries<'_, T>, IndexError> {
        Ok(Entries {
            records: self.state.bucket(Some(self.state.index(name)?), value),
        })
    }

    /// As [`by_index`](Self::by_index), for an index that is at hand; none if it was removed.
    pub fn with(&self, index: &Index<T>, value: &str) -> Entries<'_, T> {
        Entries {
            records: self.state.bucket(self.state.index_by_id(index.id()), value),
        }
    }

    /// The keys that have a value in an index, sorted (IX-08).
    ///
    /// # Errors
    ///
    /// [`IndexError::UnknownIndex`].
    pub fn index_keys(
        &self,
        name: &str,
        value: &str,
    ) -> Result<impl Iterator<Item = &ObjectKey>, IndexError> {
        Ok(self.by_index(name, value)?.map(|(key, _)| key))
    }

    /// The values of an index that at least one object has, sorted (IX-09).
    ///
    /// # Errors
    ///
    /// [`IndexError::UnknownIndex`].
    pub fn index_values(&self, name: &str) -> Result<impl Iterator<Item = &Arc<str>>, IndexError> {
        Ok(self.state.index(name)?.values())
    }

    /// The number of the commit this is the result of, 0 before the first.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.state.sequence
    }

    /// Up to which version a source had been applied; `None` if it was never marked.
    #[must_use]
    pub fn version(&self, scope: &Scope) -> Option<&ResourceVersion> {
        self.state.versions.get(scope)
    }

    /// Turns the snapshot into a walk over all of it that can be kept and resumed.
    pub fn cursor(self) -> Cursor<T> {
        Cursor::new(self.state)
    }
}

impl<T> Clone for Snapshot<T> {
    fn clone(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
        }
    }
}

impl<T> fmt::Debug for Snapshot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("sequence", &self.state.sequence)
            .field("objects", &self.state.items.len())
            .finish_non_exhaustive()
    }
}

impl<'a, T> IntoIterator for &'a Snapshot<T> {
    type Item = (&'a ObjectKey, &'a Entry<T>);
    type IntoIter = Entries<'a, T>;

    fn into_iter(self) -> Entries<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Snapshot<T> {
    type Item = (ObjectKey, Entry<T>);
    type IntoIter = Cursor<T>;

    fn into_iter(self) -> Cursor<T> {
        self.cursor()
    }
}

/// Keys and entries of a [`Snapshot`], in key order.
#[must_use = "iterators do nothing until they are asked"]
pub struct Entries<'a, T> {
    records: Records<'a, T>,
}

impl<T> Clone for Entries<'_, T> {
    fn clone(&self) -> Self {
        Self {
            records: self.records.clone(),
        }
    }
}

impl<'a, T> Iterator for Entries<'a, T> {
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

impl<T> ExactSizeIterator for Entries<'_, T> {}

impl<T> FusedIterator for Entries<'_, T> {}

impl<T> fmt::Debug for Entries<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries")
            .field("left", &self.len())
            .finish()
    }
}
