//! A list in pieces, whose memory is given back piece by piece while it is consumed.
//!
//! A batch may have an operation for each object of a large cluster. As one vector it would stay
//! in memory until the last of them is applied.

use std::fmt;

use derive_where::derive_where;

/// The number of items in a piece.
const PIECE: usize = 2_048;

/// A list that grows at its end.
#[derive_where(Default)]
pub(crate) struct Pieces<T> {
    full: Vec<Vec<T>>,
    last: Vec<T>,
}

impl<T> Pieces<T> {
    /// Creates an empty list with room for `items` items, at most for one piece.
    pub(crate) fn with_capacity(items: usize) -> Self {
        Self {
            full: Vec::new(),
            last: Vec::with_capacity(items.min(PIECE)),
        }
    }

    pub(crate) fn push(&mut self, item: T) {
        if self.last.len() == PIECE {
            let next = Vec::with_capacity(PIECE);
            self.full.push(std::mem::replace(&mut self.last, next));
        }
        self.last.push(item);
    }

    pub(crate) fn len(&self) -> usize {
        self.full.len() * PIECE + self.last.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.full.iter().flatten().chain(&self.last)
    }
}

impl<T> IntoIterator for Pieces<T> {
    type Item = T;
    type IntoIter =
        std::iter::Chain<std::iter::Flatten<std::vec::IntoIter<Vec<T>>>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.full.into_iter().flatten().chain(self.last)
    }
}

impl<T: fmt::Debug> fmt::Debug for Pieces<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_those_pushed_in_their_order() {
        for count in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let mut pieces = Pieces::with_capacity(count);
            (0..count).for_each(|item| pieces.push(item));
            assert_eq!(pieces.len(), count);
            assert!(pieces.iter().copied().eq(0..count));
            assert!(pieces.into_iter().eq(0..count));
        }
    }
}
