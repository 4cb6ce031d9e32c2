//! Replacement of the objects of one source by those of a list.
//!
//! The list and the stored records are compared side by side in key order, so an unchanged object
//! costs one comparison and keeps its record. A list with few changes is applied key by key, which
//! leaves the rest shared with older states; for a list with many it is cheaper to build anew.

// - STX-3, FM-14: other sources are untouched (checked by `tests`).
// - ST-05: the last of several entries with one key wins (checked by `tests`).

use std::sync::Arc;

use crate::state::State;
use crate::table::join::joined;
use crate::table::record::{Draft, Record};
use crate::table::shape::Shape;
use crate::table::values::Sharing;
use crate::write::apply::Step;
use crate::write::bulk::sort_latest;
use crate::{Entry, ObjectKey, Scope};

/// An entry of a list, with its key.
pub(crate) type Listed<T> = (ObjectKey, Entry<T>);

/// How a list differs from the stored records.
struct Difference {
    /// Stored keys of the scope that the list leaves out.
    missing: Vec<ObjectKey>,
    /// For each entry of the list, whether it is already stored as it is.
    same: Vec<bool>,
    /// Entries of the list that are not.
    fresh: usize,
}

impl<T, S: Shape> State<T, S> {
    /// Makes the keys of a scope those of the list.
    pub(crate) fn replace(&mut self, scope: &Scope, mut list: Vec<Listed<T>>, step: &mut Step) {
        let scope = if planted!(ReplaceIgnoresScope) {
            &Scope::All
        } else {
            scope
        };
        let given = list.len();
        list.retain(|(key, _)| scope.covers(key));
        step.commit.refused += given - list.len();
        planted!(FirstDuplicateWins => crate::write::bulk::sort_first(&mut list, key_of));
        sort_latest(&mut list, key_of);

        let difference = self.difference(scope, &list);
        if (difference.missing.len() + difference.fresh) * 4 > self.items.len() {
            let drafts = list.into_iter().map(|(key, entry)| Draft::new(key, entry));
            let records = self.merged(|key| scope.covers(key), drafts, step);
            self.rebuild(&records);
            return;
        }
        for key in &difference.missing {
            self.delete(key, step);
        }
        for ((key, entry), same) in list.into_iter().zip(difference.same) {
            if same {
                step.commit.updated += 1;
            } else {
                self.upsert(Draft::new(key, entry), step);
            }
        }
    }

    fn difference(&self, scope: &Scope, list: &[Listed<T>]) -> Difference {
        let stored = match scope {
            Scope::All => self.items.iter(),
            Scope::Namespace(namespace) => self.items.namespace(namespace),
        };
        let (mut missing, mut same) = (Vec::new(), Vec::with_capacity(list.len()));
        for pair in joined(stored, list, |record, (key, _)| record.key.cmp(key)) {
            match pair {
                (held, Some((_, entry))) => {
                    same.push(held.is_some_and(|held| held.entry.is_same(entry)));
                }
                (held, None) => missing.extend(held.map(|held| held.key.clone())),
            }
        }
        let fresh = same.iter().filter(|same| !**same).count();
        Difference {
            missing,
            same,
            fresh,
        }
    }

    /// Returns all records of the next state in key order: those of the list, and the stored ones
    /// that it does not contain and that are not `gone` then. Nothing changes here.
    pub(crate) fn merged(
        &self,
        gone: impl Fn(&ObjectKey) -> bool,
        list: impl ExactSizeIterator<Item = Draft<T>>,
        step: &mut Step,
    ) -> Vec<Arc<Record<T>>> {
        let mut records = Vec::with_capacity(self.items.len().max(list.len()));
        let mut sharing = Sharing::default();
        let by_key = |record: &&Arc<Record<T>>, draft: &Draft<T>| record.key.cmp(draft.key());
        for pair in joined(self.items.iter(), list, by_key) {
            match pair {
                (Some(stored), None) if gone(&stored.key) => step.commit.removed += 1,
                (Some(stored), None) => records.push(Arc::clone(stored)),
                (Some(stored), Some(draft)) if stored.entry.is_same(draft.entry()) => {
                    records.push(Arc::clone(stored));
                    step.commit.updated += 1;
                }
                (stored, Some(draft)) => {
                    records.push(self.record(draft, stored, Some(&mut sharing), step));
                    let count = match stored {
                        Some(_) => &mut step.commit.updated,
                        None => &mut step.commit.inserted,
                    };
                    *count += 1;
                }
                (None, None) => {}
            }
        }
        records
    }
}

fn key_of<T>((key, _): &Listed<T>) -> &ObjectKey {
    key
}
