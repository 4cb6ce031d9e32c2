//! The store as published, through its public interface.

use std::sync::Arc;

use informer_store::{
    Batch, Entry, Index, ResourceVersion, Scope, StoreReader, StoreWriter, store,
};

use crate::candidate::{Candidate, Item, Object, Reader};

pub struct ThisCrate {
    writer: StoreWriter<Object>,
    index: Index<Object>,
}

impl ThisCrate {
    pub fn new() -> Self {
        let (mut writer, _) = store();
        let node = |object: &Object| [Arc::clone(&object.node)];
        let index = writer.add_index("node", node).expect("the first index");
        Self { writer, index }
    }

    fn entry(&self, object: &Arc<Object>) -> Entry<Object> {
        Entry::anonymous(Arc::clone(object))
    }
}

impl Candidate for ThisCrate {
    type Reader = (StoreReader<Object>, Index<Object>);

    fn replace(&mut self, items: &[Item]) {
        let entries = items
            .iter()
            .map(|(key, object)| (key.clone(), self.entry(object)))
            .collect();
        self.writer
            .replace(Scope::All, entries, ResourceVersion::unset());
    }

    fn commit(&mut self, items: &[Item]) {
        let mut batch = Batch::with_capacity(items.len());
        for (key, object) in items {
            batch.upsert(key.clone(), self.entry(object));
        }
        self.writer.commit(batch);
    }

    fn reader(&self) -> Self::Reader {
        (self.writer.reader(), self.index.clone())
    }
}

impl Reader for (StoreReader<Object>, Index<Object>) {
    fn get(&self, key: &str) -> Option<Arc<Object>> {
        self.0.get(key)
    }

    fn by_index(&self, value: &str) -> Vec<Arc<Object>> {
        self.1.get(value)
    }

    fn iterate(&self) -> usize {
        let snapshot = self.0.snapshot();
        snapshot
            .iter()
            .map(|(_, entry)| usize::from(entry.uid.is_unknown()))
            .sum()
    }

    fn list(&self) -> Vec<Arc<Object>> {
        self.0.list()
    }
}
