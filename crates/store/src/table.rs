//! Records sorted by key, in a persistent structure: cloning is O(1), changing a clone copies the
//! path to what changed and shares the rest.
//!
//! The reasons for this structure and the figures are in `docs/adr/0002-store-structure.md`.

use std::ops::Bound;
use std::sync::Arc;

use imbl::OrdMap;

use crate::ObjectKey;
use crate::record::Record;

/// A persistent sorted table of records.
pub(crate) struct Table<T> {
    records: OrdMap<ObjectKey, Arc<Record<T>>>,
}

impl<T> Clone for Table<T> {
    fn clone(&self) -> Self {
        Self {
            records: self.records.clone(),
        }
    }
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            records: OrdMap::new(),
        }
    }
}

impl<T> Table<T> {
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Arc<Record<T>>> {
        self.records.get(key)
    }

    /// Stores a record and returns the one it replaces.
    pub(crate) fn insert(&mut self, record: Arc<Record<T>>) -> Option<Arc<Record<T>>> {
        self.records.insert(record.key.clone(), record)
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<Arc<Record<T>>> {
        self.records.remove(key)
    }

    /// All records in key order.
    pub(crate) fn iter(&self) -> Iter<'_, T> {
        Iter(Walk::All(self.records.iter()))
    }

    /// The records between two keys, in key order.
    pub(crate) fn range(&self, from: Bound<&str>, to: Bound<&str>) -> Iter<'_, T> {
        Iter(Walk::Range(self.records.range::<_, str>((from, to))))
    }

    /// The records of one namespace, in key order: a range, since their keys share a prefix.
    pub(crate) fn namespace(&self, namespace: &str) -> Iter<'_, T> {
        // '0' follows '/' in ASCII, so this is the first text after all that start with "ns/".
        let from = format!("{namespace}/");
        let to = format!("{namespace}0");
        self.range(Bound::Included(&from), Bound::Excluded(&to))
    }
}

/// Records in key order.
pub(crate) struct Iter<'a, T>(Walk<'a, T>);

enum Walk<'a, T> {
    None,
    All(imbl::ordmap::Iter<'a, ObjectKey, Arc<Record<T>>, imbl::shared_ptr::DefaultSharedPtr>),
    Range(
        imbl::ordmap::RangedIter<'a, ObjectKey, Arc<Record<T>>, imbl::shared_ptr::DefaultSharedPtr>,
    ),
}

impl<T> Iter<'_, T> {
    pub(crate) fn none() -> Self {
        Self(Walk::None)
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a Arc<Record<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Walk::None => None,
            Walk::All(records) => records.next().map(|(_, record)| record),
            Walk::Range(records) => records.next().map(|(_, record)| record),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Walk::None => (0, Some(0)),
            Walk::All(records) => records.size_hint(),
            Walk::Range(records) => records.size_hint(),
        }
    }
}
