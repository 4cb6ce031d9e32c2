//! One version of everything the store holds, and how records enter and leave it.
//!
//! Items, indexes, applied versions and the sequence are in one value. A reader holds a whole one,
//! so no query sees an item without its indexes. A change is made to a clone that no
//! reader sees; if an index function panics, the clone is dropped and the store is as it was.

// STX-4, FM-13, STX-10

use std::fmt;
use std::sync::Arc;

use derive_where::derive_where;
use imbl::OrdMap;

use crate::index::definition::{Definition, IndexState};
use crate::table::ids::Id;
use crate::table::items::Items;
use crate::table::record::Record;
use crate::table::records::Records;
use crate::table::shape::Shape;
use crate::{IndexError, ResourceVersion, Scope};

/// One version of the store. Cloning is O(1).
#[derive_where(Clone, Default)]
pub(crate) struct State<T, S> {
    pub(crate) sequence: u64,
    pub(crate) items: Items<T, S>,
    /// Behind one count, since most commits leave all of them as they are.
    pub(crate) indexes: Arc<Vec<IndexState<T, S>>>,
    pub(crate) versions: OrdMap<Scope, ResourceVersion>,
}

impl<T, S: Shape> State<T, S> {
    /// The debug output of every handle: no object is printed, since it may be a Secret.
    pub(crate) fn debug(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("sequence", &self.sequence)
            .field("objects", &self.items.len())
            .finish_non_exhaustive()
    }

    pub(crate) fn index(&self, name: &str) -> Result<&IndexState<T, S>, IndexError> {
        let mut indexes = self.indexes.iter();
        let found = indexes.find(|index| &*index.definition.name == name);
        found.ok_or_else(|| IndexError::UnknownIndex {
            name: Arc::from(name),
            known: self.index_names(),
        })
    }

    /// The names of the indexes, in the order in which they were added.
    pub(crate) fn index_names<C: FromIterator<Arc<str>>>(&self) -> C {
        let names = self.indexes.iter().map(|index| &index.definition.name);
        names.cloned().collect()
    }

    /// Refuses a name that an index has.
    pub(crate) fn check_name(&self, name: &Arc<str>) -> Result<(), IndexError> {
        match self.index(name) {
            Ok(_) => Err(IndexError::NameTaken {
                name: Arc::clone(name),
            }),
            Err(_) => Ok(()),
        }
    }

    pub(crate) fn index_by_id(&self, id: u64) -> Option<&IndexState<T, S>> {
        self.indexes.iter().find(|index| index.definition.id == id)
    }

    /// The records that have a value in an index, in key order.
    pub(crate) fn bucket<'a>(
        &'a self,
        index: Option<&'a IndexState<T, S>>,
        value: &str,
    ) -> Records<'a, T, S> {
        let filed = index.and_then(|index| index.filed(value));
        let ids = filed.map(|(_, ids)| ids.iter());
        self.items.scattered(ids.unwrap_or_default())
    }

    /// Files a record whose key is not stored.
    pub(crate) fn insert(&mut self, record: &Arc<Record<T>>) {
        let id = self.items.insert(Arc::clone(record));
        for index in Arc::make_mut(&mut self.indexes) {
            index.enter(&self.items, id, record, None);
        }
    }

    /// Puts a record in the place of the one with the same key.
    #[inline]
    pub(crate) fn update(&mut self, id: Id, record: &Arc<Record<T>>) {
        let old = self.items.update(id, Arc::clone(record));
        // IX-04: nothing moves when the values are the same.
        if old.values.is_same(&record.values) {
            return;
        }
        for index in Arc::make_mut(&mut self.indexes) {
            if !planted!(UpdateKeepsOldValues) {
                index.leave(&self.items, &old, Some(record));
            }
            index.enter(&self.items, id, record, Some(&old));
        }
    }

    /// Removes a key, and returns whether it was stored.
    // FM-51: every deletion of a single key comes here.
    pub(crate) fn remove(&mut self, key: &str) -> bool {
        let Some((id, old)) = self.items.find(key) else {
            return false;
        };
        let old = Arc::clone(old);
        for index in Arc::make_mut(&mut self.indexes) {
            if !planted!(DeleteForgetsIndex) {
                index.leave(&self.items, &old, None);
            }
        }
        self.items.remove(id);
        if self.items.is_sparse() {
            let records: Vec<_> = self.items.iter().cloned().collect();
            self.rebuild(&records);
        }
        true
    }

    /// Starts a new numbering with exactly these records, which are sorted by key.
    pub(crate) fn rebuild(&mut self, records: &[Arc<Record<T>>]) {
        self.items = self.items.rebuilt(records);
        for index in Arc::make_mut(&mut self.indexes) {
            *index = index.rebuilt(records);
        }
    }

    /// The same state with one more index, which is empty.
    pub(crate) fn with_index(mut self, definition: &Arc<Definition<T>>) -> Self {
        let index = IndexState::new(Arc::clone(definition));
        Arc::make_mut(&mut self.indexes).push(index);
        self
    }
}
