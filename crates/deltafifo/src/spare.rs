//! When spare memory is given back.

use std::collections::VecDeque;

/// Spare places that are kept, so that a small queue does not allocate again and again.
const KEPT: usize = 1024;

/// Returns the capacity to shrink to, if `capacity` is far more than `len` entries need.
#[inline]
pub(crate) fn excess(capacity: usize, len: usize) -> Option<usize> {
    (capacity > 4 * len + KEPT).then_some(2 * len)
}

/// Gives back the memory that a past burst needed.
#[inline]
pub(crate) fn shrink<T>(queue: &mut VecDeque<T>) {
    if let Some(capacity) = excess(queue.capacity(), queue.len()) {
        queue.shrink_to(capacity);
    }
}
