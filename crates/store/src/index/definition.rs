//! Named indexes: which values an object has, and which objects have a value.
//!
//! An index function is infallible by type, runs on the writer's thread before anything changes,
//! and is asked once per stored object; its answer is kept with the record (FM-58, STX-10).
//!
//! - STX-1: a bucket holds exactly the records that gave its value. `tests`
//! - STX-2, IX-06, FM-59: a bucket that would become empty is removed. `tests`

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use derive_where::derive_where;
use imbl::OrdMap;

use crate::table::ids::{Id, IdList};
use crate::table::items::Items;
use crate::table::record::Record;
use crate::table::shape::Shape;
use crate::table::values::IndexedValue;

/// What an index is called and how it computes.
pub(crate) struct Definition<T> {
    /// Never used twice in one store, so that a handle to a removed index answers nothing.
    pub(crate) id: u64,
    pub(crate) name: Arc<str>,
    pub(crate) function: Box<Function<T>>,
}

/// Hands the values of an object to the visitor, until it breaks off.
pub(crate) type Function<T> = dyn Fn(&T, &mut Visit<'_>) + Send + Sync;

pub(crate) type Visit<'a> = dyn FnMut(Arc<str>) -> ControlFlow<()> + 'a;

/// The index function gave more values than are allowed (SEC-24).
pub(crate) struct AboveBound;

/// One index of one state: its definition and its buckets.
#[derive_where(Clone)]
pub(crate) struct IndexState<T, S> {
    pub(crate) definition: Arc<Definition<T>>,
    /// The numbers of the records that gave a value, in key order.
    pub(crate) buckets: OrdMap<Arc<str>, IdList<S>>,
}

impl<T, S: Shape> IndexState<T, S> {
    pub(crate) fn new(definition: Arc<Definition<T>>) -> Self {
        Self {
            definition,
            buckets: OrdMap::new(),
        }
    }

    /// Appends the values of an object, sorted and without duplicates; none if the function gives
    /// more than `most`, duplicates included.
    pub(crate) fn compute(
        &self,
        object: &T,
        most: usize,
        values: &mut Vec<IndexedValue>,
    ) -> Result<(), AboveBound> {
        let start = values.len();
        let index = self.definition.id;
        let mut is_above = false;
        let mut visit = |value| {
            is_above = values.len() - start == most;
            if is_above {
                return ControlFlow::Break(());
            }
            values.push(IndexedValue { index, value });
            ControlFlow::Continue(())
        };
        (self.definition.function)(object, &mut visit);
        if is_above {
            values.truncate(start);
            return Err(AboveBound);
        }
        values[start..].sort_unstable();
        let mut kept = start;
        for next in start..values.len() {
            if next == start || values[next] != values[kept - 1] {
                values.swap(kept, next);
                kept += 1;
            }
        }
        values.truncate(kept);
        Ok(())
    }

    /// A value in the text the index has of it, and the numbers of the records that gave it.
    pub(crate) fn filed(&self, value: &str) -> Option<(&Arc<str>, &IdList<S>)> {
        self.buckets.get_key_value(value)
    }

    /// The numbers of the records that gave this value, in key order.
    pub(crate) fn bucket(&self, value: &str) -> Option<&IdList<S>> {
        self.buckets.get(value)
    }

    /// The values with at least one record, sorted.
    pub(crate) fn values(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.buckets.keys()
    }

    /// Files a record under the values it gives and its predecessor did not.
    ///
    /// `items` knows the record's number and key.
    pub(crate) fn enter(
        &mut self,
        items: &Items<T, S>,
        id: Id,
        new: &Record<T>,
        old: Option<&Record<T>>,
    ) {
        let before = old.map_or(&[][..], |old| old.values_of(self.definition.id));
        for held in new.values_of(self.definition.id) {
            if before.binary_search(held).is_ok() {
                continue;
            }
            let key = new.key.as_str();
            if let Some(bucket) = self.buckets.get_mut(&*held.value) {
                let place = items.search(bucket, key).expect_err("STX-1: filed once");
                bucket.insert(place, id);
            } else {
                self.buckets
                    .insert(Arc::clone(&held.value), IdList::from_slice(&[id]));
            }
        }
    }

    /// Takes a record out of the buckets of the values its successor does not give.
    ///
    /// `items` still knows the record's number and key.
    pub(crate) fn leave(&mut self, items: &Items<T, S>, old: &Record<T>, new: Option<&Record<T>>) {
        let after = new.map_or(&[][..], |new| new.values_of(self.definition.id));
        for held in old.values_of(self.definition.id) {
            if after.binary_search(held).is_ok() {
                continue;
            }
            let bucket = self.buckets.get_mut(&*held.value);
            let bucket = bucket.expect("STX-1: a held value has a bucket");
            let place = items.search(bucket, old.key.as_str());
            bucket.remove(place.expect("STX-1: a bucket holds every record that gave its value"));
            if bucket.is_empty() {
                self.buckets.remove(&*held.value);
            }
        }
    }

    /// The same index over records that come sorted by key and are numbered from 0.
    pub(crate) fn rebuilt(&self, records: &[Arc<Record<T>>]) -> Self {
        let mut buckets = BTreeMap::<&Arc<str>, Vec<Id>>::new();
        for (id, record) in (0..).zip(records) {
            for held in record.values_of(self.definition.id) {
                buckets.entry(&held.value).or_default().push(id);
            }
        }
        let lists = buckets.into_iter();
        let lists = lists.map(|(value, ids)| (Arc::clone(value), IdList::from_slice(&ids)));
        Self {
            definition: Arc::clone(&self.definition),
            buckets: lists.collect(),
        }
    }
}
