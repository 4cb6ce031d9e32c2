//! The index values of an object.
//!
//! The computed values are kept with the record, so that the index function is not called again
//! when the object leaves an index: an impure function cannot leave a dead key behind.

// FM-58

use std::hash::BuildHasher;
use std::ops::Deref;
use std::sync::Arc;

use foldhash::quality::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

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

/// Finds equal values among the records of one list, so that each is held once.
///
/// Without it, a value of a thousand objects is in memory a thousand times. The tables are searched
/// and never iterated, so their order is not observable. They contain the hashes, because a table
/// that grows would otherwise read all texts again.
#[derive(Default)]
pub(crate) struct Sharing {
    hasher: RandomState,
    texts: Texts,
    values: HashTable<(u64, Values)>,
    /// The records whose values were looked up whole.
    looked_up: usize,
}

/// The texts of all values.
#[derive(Default)]
struct Texts(HashTable<(u64, Arc<str>)>);

/// After this many records, values are looked up whole only if a quarter of them are shared.
const TRIED: usize = 1_024;

impl Sharing {
    pub(crate) fn share(&mut self, values: &mut Vec<IndexedValue>) -> Values {
        // The values of two indexes seldom recur together, and a table of all of them is large.
        let are_distinct = self.values.len() > self.looked_up / 4 * 3;
        if self.looked_up >= TRIED && are_distinct {
            self.texts.share(&self.hasher, values);
            return Values::taken_from(values);
        }
        self.looked_up += 1;
        let hash = self.hasher.hash_one(&**values);
        let is_it = |(_, held): &(u64, Values)| **held == **values;
        match self.values.entry(hash, is_it, |(hash, _)| *hash) {
            Entry::Occupied(shared) => shared.get().1.clone(),
            Entry::Vacant(free) => {
                self.texts.share(&self.hasher, values);
                let values = Values::taken_from(values);
                free.insert((hash, values.clone()));
                values
            }
        }
    }
}

impl Texts {
    /// Replaces each text by the equal one that the table has, or adds it to the table.
    fn share(&mut self, hasher: &RandomState, values: &mut [IndexedValue]) {
        for held in values {
            let hash = hasher.hash_one(&*held.value);
            let is_it = |(_, text): &(u64, Arc<str>)| *text == held.value;
            match self.0.entry(hash, is_it, |(hash, _)| *hash) {
                Entry::Occupied(shared) => held.value = Arc::clone(&shared.get().1),
                Entry::Vacant(free) => {
                    free.insert((hash, Arc::clone(&held.value)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares two values a record, of `first` and `second` texts, among many records.
    fn shared(first: usize, second: usize) -> Vec<Values> {
        let mut sharing = Sharing::default();
        let value = |index, text: usize| IndexedValue {
            index,
            value: text.to_string().into(),
        };
        let records = 0..4 * TRIED;
        let values = records.map(|record| {
            let mut both = vec![value(0, record % first), value(1, record % second)];
            sharing.share(&mut both)
        });
        values.collect()
    }

    #[test]
    fn equal_values_are_held_once() {
        let values = shared(10, 20);
        assert!((20..values.len()).all(|at| values[at].is_same(&values[at % 20])));
    }

    #[test]
    fn equal_texts_of_distinct_values_are_held_once() {
        // No pair recurs.
        let (first, second) = (63, 2 * TRIED);
        let values = shared(first, second);
        let text = |at: usize, index: usize| &values[at][index].value;
        assert!((first..values.len()).all(|at| Arc::ptr_eq(text(at, 0), text(at % first, 0))));
        assert!((second..values.len()).all(|at| Arc::ptr_eq(text(at, 1), text(at % second, 1))));
        assert!(!values[second].is_same(&values[0]));
    }
}
