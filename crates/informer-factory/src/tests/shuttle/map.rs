//! The part of `DashMap` that the registry uses, on a lock that a schedule sees.
//!
//! A thread that waits for a shard of the real map waits without shuttle's knowledge.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::PoisonError;

use shuttle::sync::{Mutex, MutexGuard};

pub(crate) struct DashMap<K, V>(Mutex<HashMap<K, V>>);

pub(crate) enum Entry<'a, K, V> {
    Occupied(Occupied<'a, K, V>),
    Vacant(Vacant<'a, K, V>),
}

pub(crate) struct Occupied<'a, K, V>(Vacant<'a, K, V>);

pub(crate) struct Vacant<'a, K, V> {
    map: MutexGuard<'a, HashMap<K, V>>,
    key: K,
}

pub(crate) struct Pair<K, V>(K, V);

impl<K, V> Default for DashMap<K, V> {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl<K: Clone + Eq + Hash, V: Clone> DashMap<K, V> {
    fn lock(&self) -> MutexGuard<'_, HashMap<K, V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn entry(&self, key: K) -> Entry<'_, K, V> {
        let map = self.lock();
        let is_occupied = map.contains_key(&key);
        let place = Vacant { map, key };
        match is_occupied {
            true => Entry::Occupied(Occupied(place)),
            false => Entry::Vacant(place),
        }
    }

    pub(crate) fn iter(&self) -> std::vec::IntoIter<Pair<K, V>> {
        let pairs = self.lock();
        let pairs = pairs
            .iter()
            .map(|(key, value)| Pair(key.clone(), value.clone()));
        pairs.collect::<Vec<_>>().into_iter()
    }

    pub(crate) fn remove_if(&self, key: &K, is_it: impl FnOnce(&K, &V) -> bool) -> Option<(K, V)> {
        let mut map = self.lock();
        let found = map.get(key).is_some_and(|value| is_it(key, value));
        found.then(|| map.remove_entry(key)).flatten()
    }
}

impl<K: Clone + Eq + Hash, V> Occupied<'_, K, V> {
    pub(crate) fn get(&self) -> &V {
        &self.0.map[&self.0.key]
    }

    pub(crate) fn insert(&mut self, value: V) -> V {
        let place = self.0.map.get_mut(&self.0.key).expect("occupied");
        std::mem::replace(place, value)
    }
}

impl<K: Clone + Eq + Hash, V> Vacant<'_, K, V> {
    pub(crate) fn insert(mut self, value: V) {
        self.map.insert(self.key, value);
    }
}

impl<K, V> Pair<K, V> {
    pub(crate) fn key(&self) -> &K {
        &self.0
    }

    pub(crate) fn value(&self) -> &V {
        &self.1
    }
}
