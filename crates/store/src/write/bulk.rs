//! Many entries at a time: building the next state anew is cheaper than filing one by one.
//!
//! Filing an entry moves a block in the order, in the hashes and in a bucket; a first list of
//! 100,000 objects would move gigabytes. Records made in key order are also neighbours in memory,
//! which makes an iteration over all of them fast.

// - ST-02: the last of several entries with one key wins (checked by `tests`).
// - STX-10: every index function has returned before anything changes (checked by `tests`).

use crate::ObjectKey;
use crate::state::State;
use crate::table::shape::Shape;
use crate::write::apply::Step;
use crate::write::batch::Operation;
use crate::write::replace::Listed;

impl<T, S: Shape> State<T, S> {
    /// Applies operations in their order; entries that follow each other may be stored as one.
    pub(crate) fn apply_all(&mut self, mut operations: Vec<Operation<T>>, step: &mut Step) {
        if operations.len() < S::MANY {
            for operation in operations {
                self.apply(operation, step);
            }
            return;
        }
        let is_upsert = |operation: &Operation<T>| matches!(operation, Operation::Upsert { .. });
        // Nearly always everything is stored, something removed, and a version set.
        let entries = operations.iter().take_while(|next| is_upsert(next)).count();
        let later = operations.split_off(entries);
        self.upsert_all(in_place(operations), step);
        let mut entries = Vec::new();
        for operation in later {
            match operation {
                Operation::Upsert { key, entry } => entries.push((key, entry)),
                other => {
                    self.upsert_all(std::mem::take(&mut entries), step);
                    self.apply(other, step);
                }
            }
        }
        self.upsert_all(entries, step);
    }

    fn upsert_all(&mut self, mut list: Vec<Listed<T>>, step: &mut Step) {
        if list.len() < S::MANY || list.len() < self.items.len() / 2 {
            for (key, entry) in list {
                self.upsert(key, entry, step);
            }
            return;
        }
        let given = list.len();
        sort_latest(&mut list);
        step.commit.updated += given - list.len();
        let records = self.merged(|_| false, list, step);
        self.rebuild(&records);
    }
}

/// The entries of operations that only store, in their memory: there may be very many.
fn in_place<T>(operations: Vec<Operation<T>>) -> Vec<Listed<T>> {
    let entry = |operation| match operation {
        Operation::Upsert { key, entry } => (key, entry),
        _ => unreachable!("only what stores was counted"),
    };
    operations.into_iter().map(entry).collect()
}

/// Sorts a list by key; of several entries with one key the last stays.
pub(crate) fn sort_latest<T>(list: &mut Vec<Listed<T>>) {
    if !is_sorted(list) {
        // The sort is stable: after the reversal the last of several comes first.
        list.reverse();
        sort_first(list);
    }
}

/// Sorts a list by key; of several entries with one key the first stays.
pub(crate) fn sort_first<T>(list: &mut Vec<Listed<T>>) {
    list.sort_by(|(left, _), (right, _)| left.cmp(right));
    list.dedup_by(|(later, _), (first, _)| later == first);
}

fn is_sorted<V>(list: &[(ObjectKey, V)]) -> bool {
    list.is_sorted_by(|(left, _), (right, _)| left < right)
}
