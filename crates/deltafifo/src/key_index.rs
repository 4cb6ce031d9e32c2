//! Indexes of keys in a list that does not change, so that the keys are not stored twice.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::key_hash::{self, KeyHash};

/// Indexes by key. The caller has the list and says which key is at an index.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
pub(crate) struct KeyIndex {
    /// Only looked up, never iterated: its order has no meaning.
    table: HashTable<usize>,
    hasher: KeyHash,
}

impl KeyIndex {
    pub(crate) fn new() -> Self {
        Self {
            table: HashTable::new(),
            hasher: key_hash::random(),
        }
    }

    /// The index of a list of this length. Of a key that is in it twice, either index is found.
    pub(crate) fn of<'a, K: Hash + 'a>(len: usize, key: impl Fn(usize) -> &'a K) -> Self {
        let mut index = Self::new();
        let hash = |&at: &usize| index.hasher.hash_one(key(at));
        index.table.reserve(len, hash);
        for at in 0..len {
            index.table.insert_unique(hash(&at), at, hash);
        }
        index
    }

    /// Adds `at`; false if the key there is in the index.
    pub(crate) fn insert<'a, K: Eq + Hash + 'a>(
        &mut self,
        at: usize,
        key: impl Fn(usize) -> &'a K,
    ) -> bool {
        let hash = |&at: &usize| self.hasher.hash_one(key(at));
        let is_it = |&other: &usize| key(other) == key(at);
        match self.table.entry(hash(&at), is_it, hash) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(at);
                true
            }
        }
    }

    pub(crate) fn find<'a, K: Eq + Hash + 'a>(
        &self,
        wanted: &K,
        key: impl Fn(usize) -> &'a K,
    ) -> Option<usize> {
        if self.table.is_empty() {
            return None;
        }
        let hash = self.hasher.hash_one(wanted);
        self.table.find(hash, |&at| key(at) == wanted).copied()
    }

    pub(crate) fn clear(&mut self) {
        self.table.clear();
    }
}
