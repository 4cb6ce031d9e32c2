//! Whether the parts of a store agree with each other.

use crate::index::definition::IndexState;
use crate::state::State;
use crate::table::hashes::Hashes;
use crate::table::ids::IdList;
use crate::table::items::Items;
use crate::table::shape::Shape;

/// Whether no chunk is empty or too long and the length is that of all chunks.
// STX-2: no chunk is empty, so an empty list has none.
pub(crate) fn list<S: Shape>(list: &IdList<S>) -> bool {
    let chunks = list.chunks();
    chunks
        .iter()
        .all(|chunk| (1..=S::LONGEST).contains(&chunk.len()))
        && list.len() == chunks.iter().map(|chunk| chunk.len()).sum::<usize>()
}

/// Whether every segment is sorted and the length is that of all segments.
pub(crate) fn hashes<S: Shape>(hashes: &Hashes<S>) -> bool {
    let segments = || hashes.segments.iter();
    segments().all(|segment| segment.is_sorted())
        && hashes.len == segments().map(|segment| segment.len()).sum::<usize>()
}

fn items<T, S: Shape>(items: &Items<T, S>) -> bool {
    let next = items.iter().skip(1);
    list(&items.order)
        && list(&items.free)
        && hashes(&items.hashes)
        && items.hashes.len == items.len()
        && items.free.len() + items.len() == items.next as usize
        && items
            .iter()
            .all(|record| items.get(record.key.as_str()).is_some())
        && items
            .iter()
            .zip(next)
            .all(|(left, right)| left.key < right.key)
}

fn index<T, S: Shape>(state: &State<T, S>, index: &IndexState<T, S>) -> bool {
    let buckets = || index.buckets.values();
    let records = state.items.iter();
    let values = records.map(|record| record.values_of(index.definition.id).len());
    buckets().all(|bucket| !bucket.is_empty() && list(bucket))
        && buckets().map(IdList::len).sum::<usize>() == values.sum::<usize>()
}

// STX-2: items and indexes agree.
pub(crate) fn state<T, S: Shape>(state: &State<T, S>) -> bool {
    items(&state.items) && state.indexes.iter().all(|held| index(state, held))
}
