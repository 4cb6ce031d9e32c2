//! Items of a list that were cut out of its body.

use std::ops::Range;

/// Complete items, one after the other, and the beginning of the next one.
#[derive(Debug, Default)]
pub(crate) struct Items {
    bytes: Vec<u8>,
    items: Vec<Range<usize>>,
    /// The position of the item that is not complete yet.
    begun: usize,
}

impl Items {
    /// The bytes of each complete item.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.items.iter().map(|range| &self.bytes[range.clone()])
    }

    /// The size of the complete items, in bytes.
    pub(super) fn complete_bytes(&self) -> usize {
        self.begun
    }

    /// The size of the item that is not complete yet.
    pub(super) fn begun_bytes(&self) -> usize {
        self.bytes.len() - self.begun
    }

    /// Adds bytes to the item that is not complete yet.
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Completes an item.
    pub(super) fn end_item(&mut self) {
        let end = self.bytes.len();
        self.items.push(self.begun..end);
        self.begun = end;
    }

    /// Takes the complete items. The memory of `spare` is used for the next ones.
    pub(super) fn take(&mut self, mut spare: Self) -> Self {
        spare.bytes.clear();
        spare.items.clear();
        spare.bytes.extend_from_slice(&self.bytes[self.begun..]);
        spare.begun = 0;
        self.bytes.truncate(self.begun);
        std::mem::replace(self, spare)
    }
}
