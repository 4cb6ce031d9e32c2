//! How one operation of a batch changes the next state.
//!
//! The change is made to a clone of the state that no reader sees. If an index function panics, the
//! clone is dropped and the store is as it was. `bulk` and `replace` apply many entries at a time.

use std::sync::Arc;

use crate::ObjectKey;
use crate::state::State;
use crate::table::ids::IdList;
use crate::table::record::{Draft, Record};
use crate::table::shape::Shape;
use crate::table::values::{IndexedValue, Sharing, Values};
use crate::write::batch::Operation;

/// What a commit did, operation by operation in their order.
///
/// A key that is deleted and stored again in one batch counts as removed and as inserted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Commit {
    /// The number of this commit: one more than that of the commit before; the first is 1.
    pub sequence: u64,
    /// Entries stored under a key that was not there.
    pub inserted: usize,
    /// Entries stored under a key that was there, the unchanged ones of a replacement included.
    pub updated: usize,
    /// Keys that were there and were removed.
    pub removed: usize,
    /// Entries of a replacement whose key its scope does not cover; they were not stored.
    // FM-14
    pub refused: usize,
}

/// What a batch has done so far.
pub(crate) struct Step {
    pub(crate) commit: Commit,
    /// The number of values one object may give one index.
    pub(crate) most: usize,
    /// The keys of objects that gave more. The batch is refused if there is one.
    pub(crate) above_bound: Vec<ObjectKey>,
    /// Room for the index values of one object at a time.
    pub(crate) values: Vec<IndexedValue>,
}

impl<T, S: Shape> State<T, S> {
    /// Applies one operation and counts what it did.
    pub(crate) fn apply(&mut self, operation: Operation<T>, step: &mut Step) {
        match operation {
            Operation::Upsert(draft) => self.upsert(draft, step),
            Operation::Remove { key } => self.delete(&key, step),
            Operation::Replace { scope, entries } => self.replace(&scope, entries, step),
            Operation::SetVersion { scope, version } => {
                self.versions.insert(scope, version);
            }
            Operation::ClearVersion { scope } => {
                self.versions.remove(&scope);
            }
        }
    }

    /// Stores an entry. All index functions have returned before anything changes.
    pub(crate) fn upsert(&mut self, draft: Draft<T>, step: &mut Step) {
        match self.items.find(draft.key().as_str()) {
            None => {
                let record = self.record(draft, None, None, step);
                self.insert(&record);
                step.commit.inserted += 1;
            }
            Some((id, old)) => {
                self.items.fetch(id);
                old.entry.fetch();
                let record = self.record(draft, Some(old), None, step);
                self.update(id, &record);
                step.commit.updated += 1;
            }
        }
    }

    pub(crate) fn delete(&mut self, key: &ObjectKey, step: &mut Step) {
        step.commit.removed += usize::from(self.remove(key.as_str()));
    }

    /// Adds the values of every index to a record. The values are shared with the record before
    /// it, with records of the same list, or with a stored record, where they are equal.
    pub(crate) fn record(
        &self,
        draft: Draft<T>,
        old: Option<&Arc<Record<T>>>,
        sharing: Option<&mut Sharing>,
        step: &mut Step,
    ) -> Arc<Record<T>> {
        let mut computed = std::mem::take(&mut step.values);
        for index in &*self.indexes {
            let within = index
                .definition
                .compute(&draft.entry().object, step.most, &mut computed);
            if within.is_err() {
                step.above_bound.push(draft.key().clone());
            }
        }
        let values = match old {
            Some(old) if *old.values == *computed => old.values.clone(),
            _ => match sharing {
                Some(sharing) => sharing.share(&mut computed),
                None => self.shared(&mut computed),
            },
        };
        computed.clear();
        step.values = computed;
        draft.with_values(values)
    }

    /// Returns the values of a stored record if they are equal, or else the values with the texts
    /// that the indexes have. The record is the first one that has the first of the values.
    fn shared(&self, values: &mut Vec<IndexedValue>) -> Values {
        let Some(first) = values.first() else {
            return Values::default();
        };
        if let Some((_, bucket)) = self.filed(first)
            && let Some(id) = bucket.iter().next()
            && *self.items.at(id).values == **values
        {
            return self.items.at(id).values.clone();
        }
        for held in values.iter_mut() {
            if let Some((text, _)) = self.filed(held) {
                held.value = Arc::clone(text);
            }
        }
        Values::taken_from(values)
    }

    fn filed(&self, held: &IndexedValue) -> Option<(&Arc<str>, &IdList<S>)> {
        let index = self
            .index_by_id(held.index)
            .expect("computed by an index of this state");
        index.filed(&held.value)
    }
}
