//! Indexes of keys in a list that does not change, so that the keys are not stored twice.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;

use crate::keys::hash::{self, KeyHash};

/// Indexes by key. The caller has the list and says which key is at an index.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
pub(crate) struct KeyIndex {
    /// Only looked up, never iterated: its order has no meaning.
    table: HashTable<usize>,
    hasher: KeyHash,
}

impl KeyIndex {
    /// The index of a list of this length. Of a key that is in it twice, either index is found.
    pub(crate) fn of<'a, K: Hash + 'a>(len: usize, key: impl Fn(usize) -> &'a K) -> Self {
        let hasher = hash::random();
        let hash = |&at: &usize| hasher.hash_one(key(at));
        let mut table = HashTable::with_capacity(len);
        for at in 0..len {
            table.insert_unique(hash(&at), at, hash);
        }
        Self { table, hasher }
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
}
