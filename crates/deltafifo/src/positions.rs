//! Where keys stand in a list that stays as it is, so that they need not be kept twice.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;

use crate::key_hash::{self, KeyHash};

/// Positions by key. Whoever has the list says which key is where.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
pub(crate) struct Positions {
    /// Asked, never walked: its order does not matter.
    table: HashTable<usize>,
    hasher: KeyHash,
}

impl Positions {
    /// Of a list of this length. Of a key that is in it twice either position is found.
    pub(crate) fn of<'a, K: Hash + 'a>(len: usize, key: impl Fn(usize) -> &'a K) -> Self {
        let hasher = key_hash::random();
        let hash = |&at: &usize| hasher.hash_one(key(at));
        let mut table = HashTable::with_capacity(len);
        for at in 0..len {
            table.insert_unique(hash(&at), at, hash);
        }
        Self { table, hasher }
    }

    /// Where `wanted` is in the same list.
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
