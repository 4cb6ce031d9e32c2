//! A walk over a snapshot that owns it, so that it can be kept between steps.
//!
//! Initial items of a late handler and resyncs are pulled through this, a few at a time and at the
//! handler's own pace; nothing is copied in advance.

use std::collections::VecDeque;
use std::fmt;
use std::iter::FusedIterator;
use std::ops::Bound;
use std::sync::Arc;

use crate::record::Record;
use crate::state::State;
use crate::{Entry, ObjectKey};

/// Records taken at once: the search for the place to go on from is shared by so many steps.
const CHUNK: usize = 32;

/// All keys and entries of a snapshot, in key order, owned.
///
/// A step is O(log n). The snapshot is released with the last item.
#[must_use = "iterators do nothing until they are asked"]
pub struct Cursor<T> {
    state: Option<Arc<State<T>>>,
    ahead: VecDeque<Arc<Record<T>>>,
    left: usize,
    sequence: u64,
}

impl<T> Cursor<T> {
    pub(crate) fn new(state: Arc<State<T>>) -> Self {
        let ahead: VecDeque<_> = state.items.iter().take(CHUNK).cloned().collect();
        let (left, sequence) = (state.items.len(), state.sequence);
        let state = (ahead.len() < left).then_some(state);
        Self {
            state,
            ahead,
            left,
            sequence,
        }
    }

    /// The commit the snapshot was the result of.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    fn refill(&mut self, after: &ObjectKey) {
        let Some(state) = &self.state else { return };
        let rest = state
            .items
            .range(Bound::Excluded(after.as_str()), Bound::Unbounded);
        self.ahead.extend(rest.take(CHUNK).cloned());
        if self.ahead.len() == self.left {
            self.state = None;
        }
    }
}

impl<T> Iterator for Cursor<T> {
    type Item = (ObjectKey, Entry<T>);

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.ahead.pop_front()?;
        self.left -= 1;
        if self.ahead.is_empty() {
            self.refill(&record.key);
        }
        Some((record.key.clone(), record.entry.clone()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for Cursor<T> {}

impl<T> FusedIterator for Cursor<T> {}

impl<T> fmt::Debug for Cursor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cursor")
            .field("sequence", &self.sequence)
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}
