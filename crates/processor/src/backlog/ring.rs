//! A first-in first-out buffer that doubles when it is full and gives memory back when it empties.
//!
//! It shrinks when it is less than half full, to four thirds of its length. Between one move of the
//! contents and the second after it lie as many operations as a constant share of what is moved, so
//! each operation costs amortised constant time. The capacity is within its bound at every moment,
//! not only after a burst. Entries that are taken together count as one moment.

// - RB-1: entries come out once, in the order in which they went in. `tests/ring.rs`
// - RB-2: capacity <= max(`INITIAL`, 2 x len). `tests/ring.rs`
// - PL-03: the buffer keeps no entry alive that was taken. `tests/ring.rs`

use std::collections::VecDeque;

use derive_where::derive_where;

/// The number of entries below which the buffer does not shrink.
///
/// It equals the number of entries a consumer takes together, so that a busy listener needs no
/// allocation. It is not larger, because a process may have thousands of idle listeners (client-go
/// takes 1024).
pub(crate) const INITIAL: usize = 64;

/// A growing and shrinking buffer, which allocates with its first entry. See the module.
#[derive_where(Default)]
pub(crate) struct Ring<E> {
    entries: VecDeque<E>,
}

impl<E> Ring<E> {
    /// All entries, the oldest first.
    #[cfg(test)]
    pub(crate) fn entries(&self) -> &VecDeque<E> {
        &self.entries
    }

    /// The oldest entry.
    pub(crate) fn front(&self) -> Option<&E> {
        self.entries.front()
    }

    /// Adds an entry behind all others.
    #[inline]
    pub(crate) fn push(&mut self, entry: E) {
        if self.entries.len() == self.entries.capacity() {
            self.grow();
        }
        self.entries.push_back(entry);
    }

    /// Takes the oldest entry.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<E> {
        let entry = self.entries.pop_front();
        self.shrink();
        entry
    }

    /// Takes the oldest entries, until `each` returns false. Memory is given back once for all of
    /// them.
    #[inline]
    pub(crate) fn pop_each(&mut self, mut each: impl FnMut(E) -> bool) {
        while let Some(entry) = self.entries.pop_front() {
            if !each(entry) {
                break;
            }
        }
        self.shrink();
    }

    fn grow(&mut self) {
        let len = self.entries.len();
        self.entries
            .reserve_exact(len.max(INITIAL.saturating_sub(len)));
        if planted!(RingForgetsToUnwrap) {
            self.entries.rotate_left(1.min(len));
        }
    }

    #[inline]
    fn shrink(&mut self) {
        let (len, capacity) = (self.entries.len(), self.entries.capacity());
        if capacity > INITIAL && capacity > 2 * len && !planted!(RingNeverShrinks) {
            self.entries.shrink_to((len + len / 3).max(INITIAL));
        }
    }
}
