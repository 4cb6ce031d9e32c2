//! Named indexes: which values an object has, and which objects have a value.
//!
//! An index function is infallible by type, runs on the writer's thread before anything changes,
//! and is asked once per stored object; its answer is kept with the record (FM-58, STX-10).
//!
//! - STX-1: a bucket holds exactly the records that gave its value. `proof`
//! - STX-2, IX-06, FM-59: a bucket that would become empty is removed. `proof`

use std::sync::Arc;

use imbl::OrdMap;

use crate::record::{IndexedValue, Record};
use crate::table::Table;

/// What an index is called and how it computes.
pub(crate) struct Definition<T> {
    /// Never used twice in one store, so that a handle to a removed index answers nothing.
    pub(crate) id: u64,
    pub(crate) name: Arc<str>,
    pub(crate) function: Box<Function<T>>,
}

/// Hands every value of an object to the visitor.
pub(crate) type Function<T> = dyn Fn(&T, &mut dyn FnMut(Arc<str>)) + Send + Sync;

/// One index of one state: its definition and its buckets.
pub(crate) struct IndexState<T> {
    pub(crate) definition: Arc<Definition<T>>,
    buckets: OrdMap<Arc<str>, Table<T>>,
}

impl<T> Clone for IndexState<T> {
    fn clone(&self) -> Self {
        Self {
            definition: Arc::clone(&self.definition),
            buckets: self.buckets.clone(),
        }
    }
}

impl<T> IndexState<T> {
    pub(crate) fn new(definition: Arc<Definition<T>>) -> Self {
        Self {
            definition,
            buckets: OrdMap::new(),
        }
    }

    /// Appends the values of an object, sorted and without duplicates.
    pub(crate) fn compute(&self, object: &T, values: &mut Vec<IndexedValue>) {
        let start = values.len();
        let index = self.definition.id;
        let mut visit = |value| {
            values.push(IndexedValue { index, value });
        };
        (self.definition.function)(object, &mut visit);
        values[start..].sort_unstable();
        let mut kept = start;
        for next in start..values.len() {
            if next == start || values[next] != values[kept - 1] {
                values.swap(kept, next);
                kept += 1;
            }
        }
        values.truncate(kept);
    }

    /// The text of a value as the index already holds it, so that equal values share one text.
    pub(crate) fn shared_text(&self, value: &str) -> Option<&Arc<str>> {
        self.buckets.get_key_value(value).map(|(text, _)| text)
    }

    /// The records that gave this value.
    pub(crate) fn bucket(&self, value: &str) -> Option<&Table<T>> {
        self.buckets.get(value)
    }

    /// The values with at least one record, sorted.
    pub(crate) fn values(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.buckets.keys()
    }

    /// Moves a key from the buckets of its old record to those of its new one.
    ///
    /// Buckets common to both get the new record, so that an index answers with the same objects
    /// as the main table.
    pub(crate) fn reindex(&mut self, old: Option<&Record<T>>, new: Option<&Arc<Record<T>>>) {
        let index = self.definition.id;
        if let Some(old) = old {
            let kept = new.map_or(&[][..], |new| new.values_of(index));
            for held in old.values_of(index) {
                if kept.binary_search(held).is_err() {
                    self.take_out(&held.value, old);
                }
            }
        }
        if let Some(new) = new {
            for held in new.values_of(index) {
                self.put_in(&held.value, new);
            }
        }
    }

    fn put_in(&mut self, value: &Arc<str>, record: &Arc<Record<T>>) {
        if let Some(bucket) = self.buckets.get_mut(&**value) {
            bucket.insert(Arc::clone(record));
        } else {
            let mut bucket = Table::default();
            bucket.insert(Arc::clone(record));
            self.buckets.insert(Arc::clone(value), bucket);
        }
    }

    fn take_out(&mut self, value: &str, record: &Record<T>) {
        let bucket = self
            .buckets
            .get_mut(value)
            .expect("STX-1: a held value has a bucket");
        let taken = bucket.remove(record.key.as_str());
        assert!(
            taken.is_some(),
            "STX-1: a bucket holds every record that gave its value"
        );
        if bucket.is_empty() {
            self.buckets.remove(value);
        }
    }
}
