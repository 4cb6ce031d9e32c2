//! What a structure must do to be judged, and the objects it is judged with.

use std::sync::Arc;

use arc_swap::ArcSwap;
use imbl::OrdMap;
use informer_store::ObjectKey;

/// About the size of a small decoded object.
pub struct Object {
    pub node: Arc<str>,
    #[expect(dead_code, reason = "weight")]
    pub payload: [u8; 256],
}

/// What a map holds: the key, the object and its one index value.
pub struct Record {
    pub key: ObjectKey,
    pub object: Arc<Object>,
    pub node: Arc<str>,
}

pub type Item = (ObjectKey, Arc<Object>);

/// A map whose clone is O(1).
pub trait PersistentMap: Clone + Default + Send + Sync + 'static {
    fn get(&self, key: &str) -> Option<&Arc<Record>>;
    fn insert(&mut self, record: Arc<Record>);
    fn remove(&mut self, key: &str);
    fn is_empty(&self) -> bool;
    fn for_each(&self, visit: impl FnMut(&Arc<Record>));
    /// A map of these records, which come sorted by key.
    fn from_sorted(records: Vec<Arc<Record>>) -> Self {
        let mut map = Self::default();
        records.into_iter().for_each(|record| map.insert(record));
        map
    }
}

/// What is measured.
pub trait Candidate: Send + Sync + 'static {
    fn replace(&mut self, items: &[Item]);
    fn commit(&mut self, items: &[Item]);
    type Reader: Reader;
    fn reader(&self) -> Self::Reader;
}

pub trait Reader: Clone + Send + 'static {
    fn get(&self, key: &str) -> Option<Arc<Object>>;
    fn by_index(&self, value: &str) -> Vec<Arc<Object>>;
    /// Walks one snapshot and adds up something of every object.
    fn iterate(&self) -> usize;
    fn list(&self) -> Vec<Arc<Object>>;
}

/// One state of a store made of a persistent map.
pub struct State<M> {
    items: M,
    index: OrdMap<Arc<str>, M>,
}

/// A store made of a persistent map, published by swapping one pointer.
pub struct Swapped<M> {
    current: Arc<State<M>>,
    published: Arc<ArcSwap<State<M>>>,
}

impl<M: PersistentMap> Swapped<M> {
    pub fn new() -> Self {
        let current = Arc::new(State {
            items: M::default(),
            index: OrdMap::new(),
        });
        Self {
            published: Arc::new(ArcSwap::from(Arc::clone(&current))),
            current,
        }
    }

    fn publish(&mut self, next: State<M>) {
        self.current = Arc::new(next);
        self.published.store(Arc::clone(&self.current));
    }
}

fn record((key, object): &Item) -> Arc<Record> {
    let node = Arc::clone(&object.node);
    Arc::new(Record {
        key: key.clone(),
        object: Arc::clone(object),
        node,
    })
}

impl<M: PersistentMap> State<M> {
    fn upsert(&mut self, record: &Arc<Record>) {
        if let Some(old) = self.items.get(record.key.as_str())
            && old.node != record.node
        {
            let bucket = self.index.get_mut(&*old.node).expect("indexed");
            bucket.remove(record.key.as_str());
            if bucket.is_empty() {
                let node = Arc::clone(&old.node);
                self.index.remove(&*node);
            }
        }
        match self.index.get_mut(&*record.node) {
            Some(bucket) => bucket.insert(Arc::clone(record)),
            None => {
                let mut bucket = M::default();
                bucket.insert(Arc::clone(record));
                self.index.insert(Arc::clone(&record.node), bucket);
            }
        }
        self.items.insert(Arc::clone(record));
    }
}

impl<M: PersistentMap> Candidate for Swapped<M> {
    type Reader = SwappedReader<M>;

    fn replace(&mut self, items: &[Item]) {
        let records: Vec<_> = items.iter().map(record).collect();
        let mut buckets = std::collections::BTreeMap::<_, Vec<_>>::new();
        for record in &records {
            buckets
                .entry(Arc::clone(&record.node))
                .or_default()
                .push(Arc::clone(record));
        }
        let index = buckets
            .into_iter()
            .map(|(node, list)| (node, M::from_sorted(list)))
            .collect();
        self.publish(State {
            items: M::from_sorted(records),
            index,
        });
    }

    fn commit(&mut self, items: &[Item]) {
        let mut next = State {
            items: self.current.items.clone(),
            index: self.current.index.clone(),
        };
        for item in items {
            next.upsert(&record(item));
        }
        self.publish(next);
    }

    fn reader(&self) -> Self::Reader {
        SwappedReader {
            published: Arc::clone(&self.published),
        }
    }
}

pub struct SwappedReader<M> {
    published: Arc<ArcSwap<State<M>>>,
}

impl<M> Clone for SwappedReader<M> {
    fn clone(&self) -> Self {
        Self {
            published: Arc::clone(&self.published),
        }
    }
}

impl<M: PersistentMap> Reader for SwappedReader<M> {
    fn get(&self, key: &str) -> Option<Arc<Object>> {
        self.published
            .load()
            .items
            .get(key)
            .map(|record| Arc::clone(&record.object))
    }

    fn by_index(&self, value: &str) -> Vec<Arc<Object>> {
        let state = self.published.load();
        let mut found = Vec::new();
        if let Some(bucket) = state.index.get(value) {
            bucket.for_each(|record| found.push(Arc::clone(&record.object)));
        }
        found
    }

    fn iterate(&self) -> usize {
        let state = self.published.load_full();
        let mut sum = 0;
        state.items.for_each(|record| sum += record.node.len());
        sum
    }

    fn list(&self) -> Vec<Arc<Object>> {
        let state = self.published.load();
        let mut found = Vec::new();
        state
            .items
            .for_each(|record| found.push(Arc::clone(&record.object)));
        found
    }
}
