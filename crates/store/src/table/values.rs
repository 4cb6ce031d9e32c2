//! The index values of an object.
//!
//! The computed values are kept with the record, so that the index function is not called again
//! when the object leaves an index: an impure function cannot leave a dead key behind.

// FM-58

use std::borrow::Borrow;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use foldhash::quality::RandomState;

/// One value one index gave for an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct IndexedValue {
    /// Which index: [`Definition::id`](crate::index::definition::Definition).
    pub(crate) index: u64,
    pub(crate) value: Arc<str>,
}

/// Index values, sorted by index and value, without duplicates. Shared by successive records of a
/// key as long as they do not change, and by records that have the same.
///
/// One word in each record: boxed in the shared part, and nothing at all for no values.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct Values(Option<Arc<Box<[IndexedValue]>>>);

impl Values {
    /// Takes the values out of a buffer and leaves its room.
    pub(crate) fn taken_from(values: &mut Vec<IndexedValue>) -> Self {
        Self((!values.is_empty()).then(|| Arc::new(values.drain(..).collect())))
    }

    /// The number of records that share the values; `None` if there are no values.
    pub(crate) fn holders(&self) -> Option<usize> {
        self.0.as_ref().map(Arc::strong_count)
    }

    /// Whether both are the same allocation.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    /// The values of one index.
    pub(crate) fn of(&self, index: u64) -> &[IndexedValue] {
        let start = self.partition_point(|held| held.index < index);
        let end = self.partition_point(|held| held.index <= index);
        &self[start..end]
    }
}

impl Deref for Values {
    type Target = [IndexedValue];

    fn deref(&self) -> &[IndexedValue] {
        self.0.as_ref().map_or(&[], |values| values)
    }
}

// A set of values is searched by slice.
impl Borrow<[IndexedValue]> for Values {
    fn borrow(&self) -> &[IndexedValue] {
        self
    }
}

impl Hash for Values {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.deref().hash(state);
    }
}

/// Finds equal values among the records of one list, so that each is held once.
///
/// Without it, a value of a thousand objects is in memory a thousand times. The sets are searched
/// and never iterated, so their order is not observable.
#[derive(Default)]
pub(crate) struct Sharing {
    texts: HashSet<Arc<str>, RandomState>,
    values: HashSet<Values, RandomState>,
}

impl Sharing {
    pub(crate) fn share(&mut self, values: &mut Vec<IndexedValue>) -> Values {
        if let Some(shared) = self.values.get(&**values) {
            return shared.clone();
        }
        for held in values.iter_mut() {
            if let Some(text) = self.texts.get(&*held.value) {
                held.value = Arc::clone(text);
            } else {
                self.texts.insert(Arc::clone(&held.value));
            }
        }
        let values = Values::taken_from(values);
        self.values.insert(values.clone());
        values
    }
}
