//! One stored entry together with what every index said about it when it was stored.

use crate::table::values::{IndexedValue, Values};
use crate::{Entry, ObjectKey};

/// A key, its entry and its index values. Shared by the main table and every index bucket.
///
/// With its counts it is two cache lines, and the key lies in them: that is all a look-up reads
/// beside the tables of numbers.
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
