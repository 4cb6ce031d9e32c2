//! One stored entry together with what every index said about it when it was stored.
//!
//! The computed values are kept, so that taking an object out of an index never asks the index
//! function again: a function that changes its mind cannot leave a dead key behind (FM-58).

use std::collections::HashSet;
use std::sync::Arc;

use crate::{Entry, ObjectKey};

/// A key, its entry and its index values. Shared by the main table and every index bucket.
pub(crate) struct Record<T> {
    pub(crate) key: ObjectKey,
    pub(crate) entry: Entry<T>,
    pub(crate) values: Values,
}

/// Index values, sorted by index and value, without duplicates. Shared by successive records of a
/// key as long as they do not change, and by records that have the same.
pub(crate) type Values = Arc<[IndexedValue]>;

/// One value one index gave for an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct IndexedValue {
    /// Which index: [`Definition::id`](crate::index::Definition).
    pub(crate) index: u64,
    pub(crate) value: Arc<str>,
}

impl<T> Record<T> {
    /// The values one index gave, sorted.
    pub(crate) fn values_of(&self, index: u64) -> &[IndexedValue] {
        let start = self.values.partition_point(|held| held.index < index);
        let end = self.values.partition_point(|held| held.index <= index);
        &self.values[start..end]
    }
}

/// Finds equal values among the records of one list, so that each is held once.
///
/// Without it a value that a thousand objects have would be in memory a thousand times. Only asked,
/// never walked, so the order of the sets shows nowhere.
#[derive(Default)]
pub(crate) struct Sharing {
    texts: HashSet<Arc<str>>,
    values: HashSet<Values>,
}

impl Sharing {
    pub(crate) fn share(&mut self, mut values: Vec<IndexedValue>) -> Values {
        for held in &mut values {
            if let Some(text) = self.texts.get(&*held.value) {
                held.value = Arc::clone(text);
            } else {
                self.texts.insert(Arc::clone(&held.value));
            }
        }
        if let Some(shared) = self.values.get(&*values) {
            return Arc::clone(shared);
        }
        let values = Values::from(values);
        self.values.insert(Arc::clone(&values));
        values
    }
}
