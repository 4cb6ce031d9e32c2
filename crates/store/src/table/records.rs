//! Iteration over records by number.
//!
//! The records of an index bucket lie anywhere in memory, and in a large store few of them are in a
//! cache. An iteration that loads one at a time spends its time waiting, so this one finds a few
//! records and loads them together.

use std::hint::black_box;
use std::sync::Arc;

use derive_where::derive_where;

use crate::table::ids::Ids;
use crate::table::record::Record;
use crate::table::shape::{LARGEST_AHEAD, Shape};
use crate::table::slots::Walk;

/// Records in the order of their numbers in a list.
#[derive_where(Clone)]
pub(crate) struct Records<'a, T, S> {
    ids: Ids<'a>,
    walk: Walk<'a, Record<T>, S>,
    is_scattered: bool,
    /// Where the next of `ahead` is; nothing is left of it at its end.
    next: usize,
    ahead: [Option<&'a Arc<Record<T>>>; LARGEST_AHEAD],
}

impl<'a, T, S: Shape> Records<'a, T, S> {
    pub(crate) fn new(ids: Ids<'a>, walk: Walk<'a, Record<T>, S>) -> Self {
        Self {
            ids,
            walk,
            is_scattered: false,
            next: S::AHEAD,
            ahead: [None; LARGEST_AHEAD],
        }
    }

    /// Returns the same records, loaded in advance.
    pub(crate) fn scattered(self) -> Self {
        Self {
            is_scattered: true,
            ..self
        }
    }

    #[inline]
    fn one(&mut self) -> Option<&'a Arc<Record<T>>> {
        let id = self.ids.next()?;
        Some(self.walk.get(id).expect("a filed number has a record"))
    }

    /// Finds the next few records and loads them.
    #[inline(never)]
    fn load(&mut self) {
        let mut found = 0;
        while found < S::AHEAD
            && let Some(record) = self.one()
        {
            self.ahead[found] = Some(record);
            found += 1;
        }
        self.ahead[found..].fill(None);
        self.next = 0;
        for record in self.loaded() {
            black_box(Arc::as_ptr(&record.entry.object));
        }
    }

    /// The loaded records that are still to come.
    #[inline]
    fn loaded(&self) -> impl Iterator<Item = &'a Arc<Record<T>>> {
        self.ahead[self.next..].iter().map_while(|found| *found)
    }

    /// Clones the objects.
    ///
    /// A processor waits for the count of each object, so the counts of a few are loaded together.
    pub(crate) fn objects(mut self) -> Vec<Arc<T>> {
        if !self.is_scattered {
            let objects = self.ids.map(|id| {
                let record = self.walk.get(id).expect("a filed number has a record");
                Arc::clone(&record.entry.object)
            });
            return objects.collect();
        }
        let mut objects = Vec::with_capacity(self.len());
        while self.len() > 0 {
            self.load();
            for record in self.loaded() {
                black_box(Arc::strong_count(&record.entry.object));
            }
            objects.extend(self.loaded().map(|record| Arc::clone(&record.entry.object)));
            self.next = S::AHEAD;
        }
        objects
    }
}

impl<'a, T, S: Shape> Iterator for Records<'a, T, S> {
    type Item = &'a Arc<Record<T>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if !self.is_scattered {
            return self.one();
        }
        if self.next >= S::AHEAD {
            self.load();
        }
        let record = self.ahead[self.next]?;
        self.next += 1;
        Some(record)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.ids.size_hint().0 + self.loaded().count();
        (left, Some(left))
    }

    #[inline]
    fn fold<A, F: FnMut(A, Self::Item) -> A>(mut self, first: A, mut pass: F) -> A {
        let mut so_far = self.loaded().fold(first, &mut pass);
        if !self.is_scattered {
            return self.walk.fold(self.ids, so_far, pass);
        }
        while self.ids.size_hint().0 > 0 {
            self.load();
            so_far = self.loaded().fold(so_far, &mut pass);
        }
        so_far
    }
}

impl<T, S: Shape> ExactSizeIterator for Records<'_, T, S> {}

#[cfg(test)]
mod tests {
    use crate::table::shape::{Shape, Shipped};
    use crate::tests::Small;
    use crate::{Entry, ObjectKey, Scope, StoreWriter};

    #[test]
    fn what_is_loaded_in_advance_is_still_to_come() {
        loaded_is_still_to_come::<Shipped>(70);
        loaded_is_still_to_come::<Small>(9);
    }

    fn loaded_is_still_to_come<S: Shape>(most: u32) {
        let mut writer = StoreWriter::<u32, S>::new();
        let reader = writer.reader();
        let all = writer.add_index("all", |_| [""]);
        let all = all.expect("the only index");
        for count in 0..most {
            let entries = (0..count).map(|i| {
                let key = ObjectKey::new(None, &format!("{i:02}"));
                (key.expect("well formed"), Entry::anonymous(i))
            });
            writer.replace(Scope::All, entries.collect(), "1".into());
            let snapshot = reader.snapshot();
            let mut entries = snapshot.with(&all, "");
            for i in 0..count {
                assert_eq!(entries.len(), (count - i) as usize);
                assert_eq!(
                    entries.clone().map(|(_, entry)| *entry.object).min(),
                    Some(i)
                );
                assert_eq!(entries.next().map(|(_, entry)| *entry.object), Some(i));
            }
            assert_eq!((entries.len(), entries.next().is_none()), (0, true));
            let objects = all.get("");
            assert!(objects.iter().map(|object| **object).eq(0..count));
        }
    }
}
