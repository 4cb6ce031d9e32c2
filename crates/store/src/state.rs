//! One version of everything the store holds, and how the next one is made from it.
//!
//! Items, indexes, applied versions and the sequence live in one value; a reader holds a whole
//! one or none, so no query can see an item without its indexes (STX-4, FM-13). Mutation happens
//! on a clone nobody else can see: if an index function panics, the clone is dropped and the store
//! is as it was (STX-10).
//!
//! Does not publish anything: see `writer`.

use std::sync::Arc;

use imbl::OrdMap;

use crate::batch::Operation;
use crate::index::IndexState;
use crate::record::{IndexedValue, Record, Values};
use crate::table::Table;
use crate::{Commit, Entry, IndexError, ObjectKey, Scope};

/// One version of the store. Cloning is O(number of indexes).
pub(crate) struct State<T> {
    pub(crate) sequence: u64,
    pub(crate) items: Table<T>,
    pub(crate) indexes: Vec<IndexState<T>>,
    pub(crate) versions: OrdMap<Scope, Arc<str>>,
}

impl<T> Clone for State<T> {
    fn clone(&self) -> Self {
        Self {
            sequence: self.sequence,
            items: self.items.clone(),
            indexes: self.indexes.clone(),
            versions: self.versions.clone(),
        }
    }
}

impl<T> State<T> {
    pub(crate) fn empty() -> Self {
        Self {
            sequence: 0,
            items: Table::default(),
            indexes: Vec::new(),
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

    /// Applies one operation and counts what it did.
    pub(crate) fn apply(&mut self, operation: Operation<T>, commit: &mut Commit) {
        match operation {
            Operation::Upsert { key, entry } => self.upsert(key, entry, commit),
            Operation::Delete { key } => self.delete(key.as_str(), commit),
            Operation::Replace { scope, entries } => self.replace(&scope, entries, commit),
            Operation::Mark { scope, version } => {
                self.versions.insert(scope, version);
            }
            Operation::Unmark { scope } => {
                self.versions.remove(&scope);
            }
        }
    }

    /// Stores an entry; the index functions have all answered before anything changes.
    pub(crate) fn upsert(&mut self, key: ObjectKey, entry: Entry<T>, commit: &mut Commit) {
        let old = self.items.get(key.as_str()).cloned();
        let values = self.values(&entry.object, old.as_deref());
        // The stored key is kept, so that equal keys share one text.
        let key = old.as_ref().map_or(key, |old| old.key.clone());
        let record = Arc::new(Record { key, entry, values });
        for index in &mut self.indexes {
            index.reindex(old.as_deref(), Some(&record));
        }
        self.items.insert(record);
        match old {
            Some(_) => commit.updated += 1,
            None => commit.inserted += 1,
        }
    }

    /// The one way out of the store (FM-51).
    pub(crate) fn delete(&mut self, key: &str, commit: &mut Commit) {
        let Some(old) = self.items.remove(key) else {
            return;
        };
        for index in &mut self.indexes {
            index.reindex(Some(&old), None);
        }
        commit.removed += 1;
    }

    /// Makes the keys of a scope those of the list.
    pub(crate) fn replace(
        &mut self,
        scope: &Scope,
        mut entries: Vec<(ObjectKey, Entry<T>)>,
        commit: &mut Commit,
    ) {
        let listed = entries.len();
        entries.retain(|(key, _)| scope.covers(key));
        commit.refused += listed - entries.len();
        // Stable, and reversed before, so that the last of several entries comes first and stays.
        entries.reverse();
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        entries.dedup_by(|(later, _), (first, _)| later == first);

        for key in self.missing_from(scope, &entries) {
            self.delete(key.as_str(), commit);
        }
        for (key, entry) in entries {
            let held = self.items.get(key.as_str());
            if held.is_some_and(|held| held.entry.is_same(&entry)) {
                commit.updated += 1;
            } else {
                self.upsert(key, entry, commit);
            }
        }
    }

    /// The stored keys of a scope that a sorted list leaves out.
    fn missing_from(&self, scope: &Scope, list: &[(ObjectKey, Entry<T>)]) -> Vec<ObjectKey> {
        let stored = match scope {
            Scope::All => self.items.iter(),
            Scope::Namespace(namespace) => self.items.namespace(namespace),
        };
        let mut listed = list.iter().map(|(key, _)| key).peekable();
        let mut missing = Vec::new();
        for record in stored {
            while listed.next_if(|key| **key < record.key).is_some() {}
            if listed.peek().is_none_or(|key| **key != record.key) {
                missing.push(record.key.clone());
            }
        }
        missing
    }

    /// Asks every index about an object. Shares the old values if nothing moved.
    fn values(&self, object: &T, old: Option<&Record<T>>) -> Values {
        if self.indexes.is_empty() {
            return Values::default();
        }
        let mut values = Vec::new();
        for index in &self.indexes {
            index.compute(object, &mut values);
        }
        if let Some(old) = old
            && *old.values == *values
        {
            return Arc::clone(&old.values);
        }
        self.share_texts(&mut values);
        values.into()
    }

    fn share_texts(&self, values: &mut [IndexedValue]) {
        for held in values {
            let index = self
                .index_by_id(held.index)
                .expect("computed by an index of this state");
            if let Some(text) = index.shared_text(&held.value) {
                held.value = Arc::clone(text);
            }
        }
    }

    /// Adds an index and fills it from what is stored (IX-10, FM-60).
    pub(crate) fn add_index(&mut self, index: IndexState<T>) {
        self.indexes.push(index);
        let records: Vec<_> = self.items.iter().cloned().collect();
        let mut counted = Commit::default();
        for record in records {
            self.upsert(record.key.clone(), record.entry.clone(), &mut counted);
        }
    }
}
