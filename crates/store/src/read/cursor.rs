//! An iterator over a snapshot that owns the snapshot, so that it can be kept between steps.
//!
//! A late handler and a resync receive the items of a snapshot at the handler's pace; nothing is
//! copied in advance.

use std::iter::FusedIterator;
use std::sync::Arc;

use derive_where::derive_where;

use crate::state::State;
use crate::table::ids::Place;
use crate::table::shape::{Shape, Shipped};
use crate::{Entry, ObjectKey};

/// All keys and entries of a snapshot, in key order, owned.
///
/// A step is O(log n) and looks nothing up by key. The snapshot is released with the last item.
#[must_use = "iterators do nothing until they are asked"]
#[derive_where(Debug)]
pub struct Cursor<T, S = Shipped> {
    sequence: u64,
    left: usize,
    #[derive_where(skip)]
    place: Place,
    /// `None` when nothing is left.
    #[derive_where(skip)]
    state: Option<Arc<State<T, S>>>,
}

impl<T, S: Shape> Cursor<T, S> {
    pub(crate) fn new(state: Arc<State<T, S>>) -> Self {
        let (left, sequence) = (state.items.len(), state.sequence);
        Self {
            state: (left > 0).then_some(state),
            place: Place::default(),
            left,
            sequence,
        }
    }

    /// The commit the snapshot was the result of.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.sequence
    }
}

impl<T, S: Shape> Iterator for Cursor<T, S> {
    type Item = (ObjectKey, Entry<T>);

    fn next(&mut self) -> Option<Self::Item> {
        let (record, next) = self.state.as_ref()?.items.step(self.place)?;
        let item = (record.key.clone(), record.entry.clone());
        self.place = next;
        self.left -= 1;
        if self.left == 0 {
            self.state = None;
        }
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T, S: Shape> ExactSizeIterator for Cursor<T, S> {}

impl<T, S: Shape> FusedIterator for Cursor<T, S> {}
