//! Many entries at a time: building the next state anew is cheaper than filing one by one.
//!
//! Filing an entry moves a block in the order, in the hashes and in a bucket; a first list of
//! 100,000 objects would move gigabytes. The records of a list in key order are also neighbours in
//! memory, which makes an iteration over all of them fast.

// - ST-02: the last of several entries with one key wins (checked by `tests`).
// - STX-10: every index function has returned before anything changes (checked by `tests`).

use crate::ObjectKey;
use crate::state::State;
use crate::table::record::Draft;
use crate::table::shape::Shape;
use crate::write::apply::Step;
use crate::write::batch::Operation;
use crate::write::pieces::Pieces;

impl<T, S: Shape> State<T, S> {
    /// Applies operations in their order; entries that follow each other may be stored as one.
    pub(crate) fn apply_all(&mut self, operations: Pieces<Operation<T>>, step: &mut Step) {
        if operations.len() < S::MANY {
            for operation in operations {
                self.apply(operation, step);
            }
            return;
        }
        let mut drafts = Vec::with_capacity(operations.len());
        for operation in operations {
            match operation {
                Operation::Upsert(draft) => drafts.push(draft),
                other => {
                    self.upsert_all(std::mem::take(&mut drafts), step);
                    self.apply(other, step);
                }
            }
        }
        self.upsert_all(drafts, step);
    }

    /// Returns true if this number of entries is stored by building the state anew.
    fn is_rebuilt_for(&self, entries: usize) -> bool {
        entries >= S::MANY && entries >= self.items.len() / 2
    }

    fn upsert_all(&mut self, mut drafts: Vec<Draft<T>>, step: &mut Step) {
        if !self.is_rebuilt_for(drafts.len()) {
            for draft in drafts {
                self.upsert(draft, step);
            }
            return;
        }
        let given = drafts.len();
        sort_latest(&mut drafts, Draft::key);
        step.commit.updated += given - drafts.len();
        let records = self.merged(|_| false, drafts.into_iter(), step);
        self.rebuild(&records);
    }
}

/// Sorts a list by key; of several entries with one key the last stays.
pub(crate) fn sort_latest<E>(list: &mut Vec<E>, key: impl Fn(&E) -> &ObjectKey) {
    if !list.is_sorted_by(|left, right| key(left) < key(right)) {
        // The sort is stable: after the reversal the last of several comes first.
        list.reverse();
        sort_first(list, key);
    }
}

/// Sorts a list by key; of several entries with one key the first stays.
pub(crate) fn sort_first<E>(list: &mut Vec<E>, key: impl Fn(&E) -> &ObjectKey) {
    list.sort_by(|left, right| key(left).cmp(key(right)));
    list.dedup_by(|later, first| key(later) == key(first));
}
