//! An estimate of the memory that a store takes beside its objects.

use std::sync::Arc;

use crate::index::definition::IndexState;
use crate::table::record::Record;
use crate::table::shape::Shape;
use crate::table::values::{IndexedValue, Values};
use crate::{ObjectKey, Snapshot};

/// The most records that are looked at. The others are taken to be like them.
const SAMPLE: u32 = 128;

/// Both counts of an `Arc`.
const COUNTS: usize = 16;

/// The share of a record in the tables beside itself: a slot with its part of the nodes above, an
/// entry of the hashes and a number in the order, in chunks of which three quarters are in use.
const TABLES: usize = 8 + 4 + 11 + 6;

/// A bucket without its text: its key and list in the tree of an index, the free part of their
/// node, and the counts of the list.
const BUCKET: usize = 88;

/// The estimated memory of a store in bytes, without its objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreMemory {
    /// Keys, uids, versions, the counts of shared objects, and the tables that lead to them.
    pub records: usize,
    /// The values of all indexes, and the lists of objects with each value.
    pub indexes: usize,
}

impl<T, S: Shape> Snapshot<T, S> {
    /// Estimates the memory of the store at this commit, without the objects, from at most 128
    /// records. Takes a few microseconds, however many objects there are.
    ///
    /// An older snapshot that is still held is not in the estimate.
    ///
    /// ```
    /// use informer_store::{Entry, ObjectKey, store};
    ///
    /// let (mut writer, reader) = store();
    /// for number in 0..1_000 {
    ///     let key = ObjectKey::new(Some("default"), &format!("pod-{number}"))?;
    ///     writer.upsert(key, Entry::anonymous(number));
    /// }
    /// let memory = reader.snapshot().memory();
    /// assert!((100_000..300_000).contains(&memory.records));
    /// assert_eq!(memory.indexes, 0);
    /// # Ok::<(), informer_store::KeyError>(())
    /// ```
    #[must_use]
    pub fn memory(&self) -> StoreMemory {
        let state = &self.state;
        let len = state.items.len();
        let sample: Vec<_> = state.items.sample(SAMPLE).collect();
        let whole = |sampled: usize| sampled * len / sample.len().max(1);
        let keys = sample.iter().map(|record| key_bytes(record)).sum();
        let values = sample.iter().map(|record| values_bytes(&record.values));
        let lists = state.indexes.iter().map(|index| {
            let filed = sample.iter().map(|record| filed(index, record).len());
            whole(filed.sum()) * size_of::<u32>() + index.values().len() * BUCKET
        });
        let fixed = size_of::<Record<T>>() + 2 * COUNTS + TABLES;
        StoreMemory {
            records: len * fixed + whole(keys),
            indexes: lists.sum::<usize>() + whole(values.sum()),
        }
    }
}

/// The bytes of a text in an allocation of its own.
fn block(text: usize) -> usize {
    (COUNTS + text).next_multiple_of(8)
}

/// The bytes of a key beyond the record.
fn key_bytes<T>(record: &Record<T>) -> usize {
    match record.key.as_str().len() {
        0..=ObjectKey::INLINE => 0,
        long => block(long),
    }
}

/// The record's share of its index values, which other records may have too.
fn values_bytes(values: &Values) -> usize {
    let Some(holders) = values.holders() else {
        return 0;
    };
    let texts = values.iter().map(|held| {
        // A bucket holds one of the texts with its value.
        let holders = Arc::strong_count(&held.value) - 1;
        block(held.value.len()) / holders.max(1)
    });
    let list = values.len() * size_of::<IndexedValue>();
    (COUNTS + size_of::<Box<[IndexedValue]>>() + list + texts.sum::<usize>()) / holders
}

/// The values of a record in one index.
fn filed<'r, T, S: Shape>(
    index: &IndexState<T, S>,
    record: &'r Arc<Record<T>>,
) -> &'r [IndexedValue] {
    record.values_of(index.definition.id)
}
