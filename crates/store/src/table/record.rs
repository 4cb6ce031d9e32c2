//! One stored entry together with its index values.

use crate::table::values::{IndexedValue, Values};
use crate::{Entry, ObjectKey};

/// A key, its entry and its index values. Shared by the main table and every index bucket.
///
/// A record with its reference counts is two cache lines, which include the key: a look-up reads
/// nothing else beside the tables of numbers.
pub(crate) struct Record<T> {
    pub(crate) key: ObjectKey,
    pub(crate) entry: Entry<T>,
    pub(crate) values: Values,
}

impl<T> Record<T> {
    /// The values one index gave, sorted.
    pub(crate) fn values_of(&self, index: u64) -> &[IndexedValue] {
        self.values.of(index)
    }
}
