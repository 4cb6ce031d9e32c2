//! Copy-on-write shards: two levels of `Arc` arrays over short lists, placed by hash.
//!
//! The number of shards doubles when the lists get long, so that a write copies one list and two
//! arrays of about the square root of the number of shards.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use crate::candidate::{PersistentMap, Record};

/// Records a shard holds on average before the shards double.
const LOAD: usize = 16;

type Shard = Vec<(u64, Arc<Record>)>;

#[derive(Clone)]
pub struct Shards {
    groups: Arc<Vec<Arc<Vec<Arc<Shard>>>>>,
    bits: u32,
    len: usize,
}

fn hash(key: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(key)
}

impl Shards {
    fn with_bits(bits: u32) -> Self {
        let high = bits / 2;
        let shards = (0..1 << (bits - high)).map(|_| Arc::default());
        let group = Arc::new(shards.collect());
        Self {
            groups: Arc::new(std::iter::repeat_n(group, 1 << high).collect()),
            bits,
            len: 0,
        }
    }

    fn place(&self, hash: u64) -> (usize, usize) {
        let high = self.bits / 2;
        let shard = (hash >> 7) as usize & ((1 << self.bits) - 1);
        (shard & ((1 << high) - 1), shard >> high)
    }

    fn shard_mut(&mut self, hash: u64) -> &mut Shard {
        let (group, shard) = self.place(hash);
        Arc::make_mut(&mut Arc::make_mut(&mut Arc::make_mut(&mut self.groups)[group])[shard])
    }

    fn grow(&mut self) {
        let mut grown = Self::with_bits(self.bits + 1);
        self.for_each(|record| grown.insert(Arc::clone(record)));
        *self = grown;
    }
}

impl Default for Shards {
    fn default() -> Self {
        Self::with_bits(0)
    }
}

impl PersistentMap for Shards {
    fn get(&self, key: &str) -> Option<&Arc<Record>> {
        let hash = hash(key);
        let (group, shard) = self.place(hash);
        let found = self.groups[group][shard]
            .iter()
            .find(|(held, record)| *held == hash && record.key.as_str() == key);
        found.map(|(_, record)| record)
    }

    fn insert(&mut self, record: Arc<Record>) {
        let hash = hash(record.key.as_str());
        let shard = self.shard_mut(hash);
        let held = shard
            .iter_mut()
            .find(|(held, old)| *held == hash && old.key == record.key);
        if let Some((_, held)) = held {
            *held = record;
            return;
        }
        shard.push((hash, record));
        self.len += 1;
        if self.len > LOAD << self.bits {
            self.grow();
        }
    }

    fn remove(&mut self, key: &str) {
        let hash = hash(key);
        let shard = self.shard_mut(hash);
        let before = shard.len();
        shard.retain(|(held, record)| *held != hash || record.key.as_str() != key);
        self.len -= before - shard.len();
    }

    fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn for_each(&self, mut visit: impl FnMut(&Arc<Record>)) {
        for group in self.groups.iter() {
            for shard in group.iter() {
                shard.iter().for_each(|(_, record)| visit(record));
            }
        }
    }
}
