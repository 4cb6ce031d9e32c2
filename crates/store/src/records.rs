//! Records by number, one after the other.
//!
//! Those that an index finds are anywhere in memory, and in a large store hardly any is in a cache.
//! A walk that finds one, waits for it and only then looks for the next spends its time waiting, so
//! a few are found first and loaded together.

use std::hint::black_box;
use std::sync::Arc;

use crate::ids::Ids;
use crate::record::Record;
use crate::slots::Walk;

/// How many are loaded at a time: about what a processor waits for at once. Small in tests, so
/// that short histories cross it.
const AHEAD: usize = if cfg!(any(test, fuzzing)) { 3 } else { 16 };

/// Records in the order of their numbers in a list.
pub(crate) struct Records<'a, T> {
    ids: Ids<'a>,
    walk: Walk<'a, Record<T>>,
    is_scattered: bool,
    /// Where the next of `ahead` is; nothing is left of it at its end.
    next: usize,
    ahead: [Option<&'a Arc<Record<T>>>; AHEAD],
}

impl<T> Clone for Records<'_, T> {
    fn clone(&self) -> Self {
        Self {
            ids: self.ids.clone(),
            walk: self.walk.clone(),
            ..*self
        }
    }
}

impl<'a, T> Records<'a, T> {
    pub(crate) fn new(ids: Ids<'a>, walk: Walk<'a, Record<T>>) -> Self {
        Self {
            ids,
            walk,
            is_scattered: false,
            next: AHEAD,
            ahead: [None; AHEAD],
        }
    }

    /// The same, loaded in advance.
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

    fn loaded(&mut self) -> Option<&'a Arc<Record<T>>> {
        if self.next == AHEAD {
            self.ahead = self.several();
            self.next = 0;
        }
        let record = self.ahead[self.next]?;
        self.next += 1;
        Some(record)
    }

    fn several(&mut self) -> [Option<&'a Arc<Record<T>>>; AHEAD] {
        let mut found = [None; AHEAD];
        for place in &mut found {
            *place = self.one();
        }
        for record in found.iter().flatten() {
            black_box(Arc::as_ptr(&record.entry.object));
        }
        found
    }

    /// The objects, each counted once more.
    ///
    /// Nothing else is done while a count comes from memory, so several are looked at beforehand.
    pub(crate) fn objects(mut self) -> Vec<Arc<T>> {
        if !self.is_scattered {
            return self
                .map(|record| Arc::clone(&record.entry.object))
                .collect();
        }
        let mut objects = Vec::with_capacity(self.len());
        while self.len() > 0 {
            let found = self.several();
            for record in found.iter().flatten() {
                black_box(Arc::strong_count(&record.entry.object));
            }
            let found = found.into_iter().flatten();
            objects.extend(found.map(|record| Arc::clone(&record.entry.object)));
        }
        objects
    }
}

impl<'a, T> Iterator for Records<'a, T> {
    type Item = &'a Arc<Record<T>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_scattered {
            self.loaded()
        } else {
            self.one()
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let loaded = self.ahead.iter().skip(self.next).flatten().count();
        let left = self.ids.size_hint().0 + loaded;
        (left, Some(left))
    }
}

impl<T> ExactSizeIterator for Records<'_, T> {}

#[cfg(test)]
mod tests {
    use crate::{Entry, ObjectKey, Scope, store};

    #[test]
    fn what_is_loaded_in_advance_is_still_to_come() {
        let (mut writer, reader) = store::<u32>();
        let all = writer.add_index("all", |_| [""]);
        let all = all.expect("the only index");
        for count in 0..9_u32 {
            let entries = (0..count).map(|i| {
                let key = ObjectKey::new(None, &i.to_string());
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
