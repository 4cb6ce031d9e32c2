//! imbl's persistent maps: a B+ tree with 16 entries a node, and a hash trie.

use std::collections::hash_map::RandomState;
use std::sync::Arc;

use informer_store::ObjectKey;

use crate::candidate::{PersistentMap, Record};

#[derive(Clone, Default)]
pub struct Ordered(imbl::OrdMap<ObjectKey, Arc<Record>>);

impl PersistentMap for Ordered {
    fn get(&self, key: &str) -> Option<&Arc<Record>> {
        self.0.get(key)
    }
    fn insert(&mut self, record: Arc<Record>) {
        self.0.insert(record.key.clone(), record);
    }
    fn remove(&mut self, key: &str) {
        self.0.remove(key);
    }
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    fn for_each(&self, visit: impl FnMut(&Arc<Record>)) {
        self.0.values().for_each(visit);
    }
}

#[derive(Clone, Default)]
pub struct Hashed(
    imbl::GenericHashMap<ObjectKey, Arc<Record>, RandomState, imbl::shared_ptr::DefaultSharedPtr>,
);

impl PersistentMap for Hashed {
    fn get(&self, key: &str) -> Option<&Arc<Record>> {
        self.0.get(key)
    }
    fn insert(&mut self, record: Arc<Record>) {
        self.0.insert(record.key.clone(), record);
    }
    fn remove(&mut self, key: &str) {
        self.0.remove(key);
    }
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    fn for_each(&self, visit: impl FnMut(&Arc<Record>)) {
        self.0.values().for_each(visit);
    }
}
