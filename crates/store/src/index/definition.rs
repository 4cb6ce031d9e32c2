//! Named indexes: the values an object has, and the objects that have a value.
//!
//! An index function cannot fail. It is called once for each stored object, before anything
//! changes, and its values are kept with the record.

// - FM-58, STX-10: an impure or panicking function leaves the index consistent.
// - STX-1: a bucket holds exactly the records that have its value (checked by `tests`).
// - STX-2, IX-06, FM-59: a bucket that would become empty is removed (checked by `tests`).

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use derive_where::derive_where;
use imbl::OrdMap;

use crate::table::ids::{Id, IdList};
use crate::table::items::Items;
use crate::table::record::Record;
use crate::table::shape::Shape;
use crate::table::values::IndexedValue;

/// The next [`Definition::id`]. One counter for all stores, since an index is prepared without the
/// writer of its store.
static NEXT_ID: AtomicU64 = AtomicU64::new(0);

/// The name of an index and the function that computes its values.
#[derive_where(Debug)]
pub(crate) struct Definition<T> {
    /// Never used twice, so that a handle to a removed index answers nothing.
    #[derive_where(skip)]
    pub(crate) id: u64,
    pub(crate) name: Arc<str>,
    #[derive_where(skip)]
    function: Box<Function<T>>,
}

/// Hands the values of an object to the visitor, until the visitor breaks off.
type Function<T> = dyn Fn(&T, &mut Visit<'_>) + Send + Sync;
type Visit<'a> = dyn FnMut(Arc<str>) -> ControlFlow<()> + 'a;

/// The index function gave more values than are allowed.
pub(crate) struct AboveBound;

impl<T> Definition<T> {
    pub(crate) fn new<F, I, V>(name: Arc<str>, f: F) -> Self
    where
        F: Fn(&T) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = V>,
        V: Into<Arc<str>>,
    {
        Self {
            id: NEXT_ID.fetch_add(1, Ordering::Relaxed),
            name,
            function: Box::new(move |object: &T, visit: &mut Visit<'_>| {
                for value in f(object) {
                    if visit(value.into()).is_break() {
                        return;
                    }
                }
            }),
        }
    }

    /// Adds the values of an object to those of other indexes, sorted and without duplicates.
    ///
    /// Adds none if the function gives more than `most`, duplicates included.
    // SEC-24
    pub(crate) fn compute(
        &self,
        object: &T,
        most: usize,
        values: &mut Vec<IndexedValue>,
    ) -> Result<(), AboveBound> {
        let (start, index) = (values.len(), self.id);
        let mut is_above = false;
        (self.function)(object, &mut |value| {
            is_above = values.len() - start == most;
            if is_above {
                return ControlFlow::Break(());
            }
            values.push(IndexedValue { index, value });
            ControlFlow::Continue(())
        });
        if is_above {
            values.truncate(start);
            return Err(AboveBound);
        }
        // An index that is prepared early and installed late has a smaller number than those before
        // it, so all values are sorted.
        if values.len() > 1 {
            values.sort_unstable();
            values.dedup();
        }
        Ok(())
    }
}

/// One index of one state: its definition and its buckets.
#[derive_where(Clone)]
pub(crate) struct IndexState<T, S> {
    pub(crate) definition: Arc<Definition<T>>,
    /// By value, the numbers of the records that have it, in key order.
    pub(crate) buckets: OrdMap<Arc<str>, IdList<S>>,
}

impl<T, S: Shape> IndexState<T, S> {
    pub(crate) fn new(definition: Arc<Definition<T>>) -> Self {
        Self {
            definition,
            buckets: OrdMap::new(),
        }
    }

    /// The shared text of a value, and the numbers of the records that have it.
    pub(crate) fn filed(&self, value: &str) -> Option<(&Arc<str>, &IdList<S>)> {
        self.buckets.get_key_value(value)
    }

    /// The values with at least one record, sorted.
    pub(crate) fn values(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.buckets.keys()
    }

    /// Files a record under the values that its predecessor does not have.
    ///
    /// `items` contains the record.
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

    /// Removes a record from the buckets of the values that its successor does not have.
    ///
    /// `items` still contains the record's number and key.
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

    /// Returns the same index over records that are sorted by key and numbered from 0.
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
