//! One stored entry together with its index values.

use std::sync::Arc;

use derive_where::derive_where;

use crate::table::values::{IndexedValue, Values};
use crate::{Entry, ObjectKey};

/// A key, its entry and its index values. Shared by the main table and every index bucket.
///
/// A record with its reference counts is two cache lines, which include the key: a look-up reads
/// nothing else beside the tables of numbers.
#[derive_where(Debug)]
pub(crate) struct Record<T> {
    pub(crate) key: ObjectKey,
    pub(crate) entry: Entry<T>,
    #[derive_where(skip(Debug))]
    pub(crate) values: Values,
}

/// A new record without index values, which is not shared yet.
///
/// A batch may have one for each object of a large cluster. `Batch::upsert` creates it, so that key
/// and entry are not in memory twice until the commit.
#[derive_where(Debug)]
pub(crate) struct Draft<T>(Arc<Record<T>>);

impl<T> Draft<T> {
    pub(crate) fn new(key: ObjectKey, entry: Entry<T>) -> Self {
        let values = Values::default();
        Self(Arc::new(Record { key, entry, values }))
    }

    pub(crate) fn key(&self) -> &ObjectKey {
        &self.0.key
    }

    pub(crate) fn entry(&self) -> &Entry<T> {
        &self.0.entry
    }

    /// Returns the record, with its values.
    pub(crate) fn with_values(self, values: Values) -> Arc<Record<T>> {
        let mut record = self.0;
        let only = Arc::get_mut(&mut record);
        only.expect("a draft is not shared").values = values;
        record
    }
}

impl<T> Record<T> {
    /// The values one index gave, sorted.
    pub(crate) fn values_of(&self, index: u64) -> &[IndexedValue] {
        self.values.of(index)
    }
}
