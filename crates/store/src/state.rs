//! One version of everything the store holds, and how the next one is made from it.
//!
//! Items, indexes, applied versions and the sequence live in one value; a reader holds a whole
//! one or none, so no query can see an item without its indexes (STX-4, FM-13). Mutation happens
//! on a clone nobody else can see: if an index function panics, the clone is dropped and the store
//! is as it was (STX-10).
//!
//! Does not publish anything: see `writer`. Replacing the objects of a source is in `replace`.

use std::sync::Arc;

use imbl::OrdMap;

use crate::batch::Operation;
use crate::ids::IdList;
use crate::index::IndexState;
use crate::items::Items;
use crate::record::Record;
use crate::records::Records;
use crate::values::{IndexedValue, Sharing, Values};
use crate::{Commit, Entry, IndexError, ObjectKey, ResourceVersion, Scope};

/// One version of the store. Cloning is O(1).
pub(crate) struct State<T> {
    pub(crate) sequence: u64,
    pub(crate) items: Items<T>,
    /// Behind one count, since most commits leave all of them as they are.
    pub(crate) indexes: Arc<Vec<IndexState<T>>>,
    pub(crate) versions: OrdMap<Scope, ResourceVersion>,
}

/// What one step has done so far.
pub(crate) struct Step {
    pub(crate) commit: Commit,
    /// How many values one object may give one index.
    most: usize,
    /// Keys whose objects gave more. A step that has any is not published.
    pub(crate) above_bound: Vec<ObjectKey>,
}

impl Step {
    pub(crate) fn new(sequence: u64, most: usize) -> Self {
        let commit = Commit {
            sequence,
            ..Commit::default()
        };
        Self {
            commit,
            most,
            above_bound: Vec::new(),
        }
    }
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self {
            sequence: self.sequence,
            items: self.items.clone(),
            indexes: Arc::clone(&self.indexes),
            versions: self.versions.clone(),
        }
    }
}

impl<T> State<T> {
    pub(crate) fn empty() -> Self {
        Self {
            sequence: 0,
            items: Items::default(),
            indexes: Arc::default(),
            versions: OrdMap::new(),
        }
    }

    pub(crate) fn index(&self, name: &str) -> Result<&IndexState<T>, IndexError> {
        self.indexes
            .iter()
            .find(|index| &*index.definition.name == name)
            .ok_or_else(|| IndexError::UnknownIndex {
                name: Arc::from(name),
                known: self
                    .indexes
                    .iter()
                    .map(|index| Arc::clone(&index.definition.name))
                    .collect(),
            })
    }

    pub(crate) fn index_by_id(&self, id: u64) -> Option<&IndexState<T>> {
        self.indexes.iter().find(|index| index.definition.id == id)
    }

    /// The records that have a value in an index, in key order.
    pub(crate) fn bucket<'a>(
        &'a self,
        index: Option<&'a IndexState<T>>,
        value: &str,
    ) -> Records<'a, T> {
        let bucket = index.and_then(|index| index.bucket(value));
        self.items
            .scattered(bucket.map(IdList::iter).unwrap_or_default())
    }

    /// Applies one operation and counts what it did.
    pub(crate) fn apply(&mut self, operation: Operation<T>, step: &mut Step) {
        match operation {
            Operation::Upsert { key, entry } => self.upsert(key, entry, step),
            Operation::Delete { key } => self.delete(key.as_str(), step),
            Operation::Replace { scope, entries } => self.replace(&scope, entries, step),
            Operation::Mark { scope, version } => {
                self.versions.insert(scope, version);
            }
            Operation::Unmark { scope } => {
                self.versions.remove(&scope);
            }
        }
    }

    /// Stores an entry. The index functions have all answered before anything changes.
    pub(crate) fn upsert(&mut self, key: ObjectKey, entry: Entry<T>, step: &mut Step) {
        match self.items.find(key.as_str()) {
            None => {
                let record = self.record(key, entry, None, None, step);
                let id = self.items.insert(Arc::clone(&record));
                for index in Arc::make_mut(&mut self.indexes) {
                    index.enter(&self.items, id, &record, None);
                }
                step.commit.inserted += 1;
            }
            Some((id, old)) => {
                self.items.fetch(id);
                old.entry.fetch();
                let record = self.record(key, entry, Some(old), None, step);
                let old = self.items.update(id, Arc::clone(&record));
                // The fast path of IX-04: nothing moves when the values are the same.
                if !old.values.is_same(&record.values) {
                    for index in Arc::make_mut(&mut self.indexes) {
                        if !planted!(UpdateKeepsOldValues) {
                            index.leave(&self.items, &old, Some(&record));
                        }
                        index.enter(&self.items, id, &record, Some(&old));
                    }
                }
                step.commit.updated += 1;
            }
        }
    }

    /// The one way out of the store for a single key (FM-51).
    pub(crate) fn delete(&mut self, key: &str, step: &mut Step) {
        let Some((id, old)) = self.items.find(key) else {
            return;
        };
        let old = Arc::clone(old);
        for index in Arc::make_mut(&mut self.indexes) {
            if !planted!(DeleteForgetsIndex) {
                index.leave(&self.items, &old, None);
            }
        }
        self.items.remove(id);
        step.commit.removed += 1;
        if self.items.is_sparse() {
            let records: Vec<_> = self.items.iter().cloned().collect();
            self.rebuild(&records);
        }
    }

    /// Starts a new numbering with exactly these records, which come sorted by key.
    pub(crate) fn rebuild(&mut self, records: &[Arc<Record<T>>]) {
        self.items = self.items.rebuilt(records);
        for index in Arc::make_mut(&mut self.indexes) {
            *index = index.rebuilt(records);
        }
    }

    /// Asks every index about an object and makes a record of the answers, which shares what it
    /// can with the record it succeeds, with the list it came in, or with what is stored.
    pub(crate) fn record(
        &self,
        key: ObjectKey,
        entry: Entry<T>,
        old: Option<&Arc<Record<T>>>,
        sharing: Option<&mut Sharing>,
        step: &mut Step,
    ) -> Arc<Record<T>> {
        let mut values = Vec::with_capacity(self.indexes.len());
        for index in &*self.indexes {
            if index
                .compute(&entry.object, step.most, &mut values)
                .is_err()
            {
                step.above_bound.push(key.clone());
            }
        }
        let values = match old {
            Some(old) if *old.values == *values => old.values.clone(),
            _ => match sharing {
                Some(sharing) => sharing.share(values),
                None => self.shared(values),
            },
        };
        Arc::new(Record { key, entry, values })
    }

    /// The same values as the first record has that was filed under the first of them, or else in
    /// texts the indexes have.
    fn shared(&self, mut values: Vec<IndexedValue>) -> Values {
        let Some(first) = values.first() else {
            return Values::default();
        };
        if let Some((_, bucket)) = self.filed(first)
            && let Some(id) = bucket.iter().next()
            && *self.items.at(id).values == *values
        {
            return self.items.at(id).values.clone();
        }
        for held in &mut values {
            if let Some((text, _)) = self.filed(held) {
                held.value = Arc::clone(text);
            }
        }
        values.into()
    }

    fn filed(&self, held: &IndexedValue) -> Option<(&Arc<str>, &IdList)> {
        let index = self
            .index_by_id(held.index)
            .expect("computed by an index of this state");
        index.filed(&held.value)
    }

    /// Adds an index and fills it from what is stored (IX-10, FM-60). The others are not asked
    /// again; their buckets are made anew because records are. Returns the keys of objects that
    /// give it more than `most` values, and are not in it.
    pub(crate) fn add_index(&mut self, index: IndexState<T>, most: usize) -> Vec<ObjectKey> {
        let mut above_bound = Vec::new();
        planted!(IndexNotFilled => {
            Arc::make_mut(&mut self.indexes).push(index);
            return above_bound;
        });
        let mut sharing = Sharing::default();
        let mut extended = |record: &Arc<Record<T>>| {
            let mut values = record.values.to_vec();
            if index
                .compute(&record.entry.object, most, &mut values)
                .is_err()
            {
                above_bound.push(record.key.clone());
            }
            let (key, entry) = (record.key.clone(), record.entry.clone());
            Arc::new(Record {
                key,
                entry,
                values: sharing.share(values),
            })
        };
        let records: Vec<_> = self.items.iter().map(&mut extended).collect();
        Arc::make_mut(&mut self.indexes).push(index);
        self.rebuild(&records);
        above_bound
    }
}
