//! What a relist lists and leaves alone.
//!
//! Of a relist nearly everything is held just so, and there may be very much of it: it stays in
//! the memory it came in, and only positions are hashed.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;

use crate::key_hash::{self, KeyHash};

/// Keys, to be found again; their objects are dropped with them.
pub(super) struct Untouched<K, V> {
    listed: Vec<(K, Option<V>)>,
    /// Positions in `listed`. Asked, never walked: their order does not matter.
    places: HashTable<usize>,
    hasher: KeyHash,
}

impl<K: Eq + Hash, V> Untouched<K, V> {
    /// A key that is listed twice may be here twice.
    pub(super) fn of(listed: impl Iterator<Item = (K, Option<V>)>) -> Self {
        let listed: Vec<_> = listed.collect();
        let hasher = key_hash::random();
        let mut places = HashTable::with_capacity(listed.len());
        for (at, (key, _)) in listed.iter().enumerate() {
            let again = |&at: &usize| hasher.hash_one(&listed[at].0);
            places.insert_unique(hasher.hash_one(key), at, again);
        }
        Self {
            listed,
            places,
            hasher,
        }
    }

    pub(super) fn contains(&self, key: &K) -> bool {
        let is_it = |&at: &usize| self.listed[at].0 == *key;
        !self.places.is_empty() && self.places.find(self.hasher.hash_one(key), is_it).is_some()
    }
}
