//! The base line: hash maps behind one lock, as client-go has it.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use informer_store::ObjectKey;

use crate::candidate::{Candidate, Item, Object, Reader};

#[derive(Default)]
pub struct Maps {
    items: HashMap<ObjectKey, Arc<Object>>,
    index: HashMap<Arc<str>, std::collections::HashSet<ObjectKey>>,
}

#[derive(Clone, Default)]
pub struct Locked(Arc<RwLock<Maps>>);

impl Maps {
    fn upsert(&mut self, (key, object): &Item) {
        let old = self.items.insert(key.clone(), Arc::clone(object));
        if let Some(old) = old {
            if old.node == object.node {
                return;
            }
            let bucket = self.index.get_mut(&old.node).expect("indexed");
            bucket.remove(key);
            if bucket.is_empty() {
                self.index.remove(&old.node);
            }
        }
        self.index
            .entry(Arc::clone(&object.node))
            .or_default()
            .insert(key.clone());
    }
}

impl Candidate for Locked {
    type Reader = Self;

    fn replace(&mut self, items: &[Item]) {
        let mut next = Maps::default();
        items.iter().for_each(|item| next.upsert(item));
        *self.0.write().expect("not poisoned") = next;
    }

    fn commit(&mut self, items: &[Item]) {
        let mut maps = self.0.write().expect("not poisoned");
        items.iter().for_each(|item| maps.upsert(item));
    }

    fn reader(&self) -> Self {
        self.clone()
    }
}

impl Reader for Locked {
    fn get(&self, key: &str) -> Option<Arc<Object>> {
        self.0.read().expect("not poisoned").items.get(key).cloned()
    }

    fn by_index(&self, value: &str) -> Vec<Arc<Object>> {
        let maps = self.0.read().expect("not poisoned");
        let keys = maps.index.get(value).into_iter().flatten();
        keys.map(|key| Arc::clone(&maps.items[key])).collect()
    }

    fn iterate(&self) -> usize {
        let maps = self.0.read().expect("not poisoned");
        maps.items.values().map(|object| object.node.len()).sum()
    }

    fn list(&self) -> Vec<Arc<Object>> {
        self.0
            .read()
            .expect("not poisoned")
            .items
            .values()
            .cloned()
            .collect()
    }
}
