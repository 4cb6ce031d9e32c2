//! A persistent list of slot numbers: chunks of plain numbers under one array.
//!
//! A changed list costs one chunk and one array of chunk pointers. Numbers are copied with a block
//! move, and no reference count is touched. The list does not depend on the meaning of its numbers
//! or on their order: the caller that searches brings the comparison.

// STX-2: no chunk is empty, so an empty list has none (checked by `tests/sound.rs`).

use std::cmp::Ordering;
use std::marker::PhantomData;
use std::sync::Arc;

use derive_where::derive_where;

use crate::table::shape::Shape;

/// The number of a slot in [`Slots`](crate::table::slots::Slots).
pub(crate) type Id = u32;

/// A persistent list of slot numbers. Cloning is O(1).
#[derive_where(Clone, Default)]
pub(crate) struct IdList<S> {
    chunks: Chunks,
    len: usize,
    shape: PhantomData<S>,
}

/// Most lists are index buckets and short, hence the case without a second level.
#[derive(Clone)]
enum Chunks {
    One(Arc<[Id]>),
    Many(Arc<Vec<Arc<[Id]>>>),
}

impl Default for Chunks {
    fn default() -> Self {
        Self::Many(Arc::default())
    }
}

/// A place in a list, where an element is or would be put in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    chunk: usize,
    offset: usize,
}

impl<S: Shape> IdList<S> {
    /// A list of these numbers in this order.
    pub(crate) fn from_slice(ids: &[Id]) -> Self {
        let chunks = if ids.len() <= S::LONGEST && !ids.is_empty() {
            Chunks::One(Arc::from(ids))
        } else {
            Chunks::Many(Arc::new(ids.chunks(S::FRESH).map(Arc::from).collect()))
        };
        Self {
            chunks,
            len: ids.len(),
            shape: PhantomData,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn chunks(&self) -> &[Arc<[Id]>] {
        match &self.chunks {
            Chunks::One(chunk) => std::slice::from_ref(chunk),
            Chunks::Many(chunks) => chunks,
        }
    }

    /// Binary search. `compare` tells how an element relates to what is looked for.
    pub(crate) fn search(&self, mut compare: impl FnMut(Id) -> Ordering) -> Result<Place, Place> {
        let chunks = self.chunks();
        let after = chunks.partition_point(|chunk| compare(chunk[0]) != Ordering::Greater);
        let Some(chunk) = after.checked_sub(1) else {
            return Err(Place::default());
        };
        match chunks[chunk].binary_search_by(|id| compare(*id)) {
            Ok(offset) => Ok(Place { chunk, offset }),
            Err(offset) => Err(Place { chunk, offset }),
        }
    }

    pub(crate) fn insert(&mut self, place: Place, id: Id) {
        self.len += 1;
        let chunks = self.chunks_mut();
        let Some(chunk) = chunks.get_mut(place.chunk) else {
            chunks.push(Arc::from([id]));
            self.settle();
            return;
        };
        let (before, after) = chunk.split_at(place.offset);
        let longer = [before, &[id], after].concat();
        if longer.len() <= S::LONGEST {
            *chunk = Arc::from(longer);
        } else {
            let (front, back) = longer.split_at(S::LONGEST / 2);
            *chunk = Arc::from(front);
            chunks.insert(place.chunk + 1, Arc::from(back));
        }
        self.settle();
    }

    pub(crate) fn remove(&mut self, place: Place) {
        self.len -= 1;
        let chunks = self.chunks_mut();
        let chunk = &mut chunks[place.chunk];
        let mut shorter = [&chunk[..place.offset], &chunk[place.offset + 1..]].concat();
        if shorter.is_empty() {
            chunks.remove(place.chunk);
        } else {
            let join = |with: &Arc<[Id]>| with.len() + shorter.len() <= S::FRESH;
            if shorter.len() < S::SHORT && chunks.get(place.chunk + 1).is_some_and(join) {
                let next = chunks.remove(place.chunk + 1);
                shorter.extend_from_slice(&next);
            }
            chunks[place.chunk] = Arc::from(shorter);
        }
        self.settle();
    }

    /// Adds to the end.
    pub(crate) fn push(&mut self, id: Id) {
        let chunk = self.chunks().len().saturating_sub(1);
        let offset = self.chunks().last().map_or(0, |chunk| chunk.len());
        self.insert(Place { chunk, offset }, id);
    }

    /// Takes from the end.
    pub(crate) fn pop(&mut self) -> Option<Id> {
        let chunk = self.chunks().len().checked_sub(1)?;
        let offset = self.chunks()[chunk].len() - 1;
        let id = self.chunks()[chunk][offset];
        self.remove(Place { chunk, offset });
        Some(id)
    }

    /// The element at a place, and the place after it.
    pub(crate) fn step(&self, place: Place) -> Option<(Id, Place)> {
        let Place {
            mut chunk,
            mut offset,
        } = place;
        loop {
            if let Some(id) = self.chunks().get(chunk)?.get(offset) {
                offset += 1;
                return Some((*id, Place { chunk, offset }));
            }
            (chunk, offset) = (chunk + 1, 0);
        }
    }

    pub(crate) fn iter(&self) -> Ids<'_> {
        self.between(Place::default(), None)
    }

    /// The elements from one place up to another, or to the end.
    pub(crate) fn between(&self, from: Place, to: Option<Place>) -> Ids<'_> {
        let chunks = self.chunks();
        let before = |place: Place| {
            let lengths = chunks[..place.chunk].iter().map(|chunk| chunk.len());
            lengths.sum::<usize>() + place.offset
        };
        let left = to.map_or(self.len, before).saturating_sub(before(from));
        let (here, rest) = match chunks.get(from.chunk..) {
            Some([first, rest @ ..]) => (&first[from.offset..], rest.iter()),
            _ => Default::default(),
        };
        let here = &here[..left.min(here.len())];
        Ids {
            left: left - here.len(),
            here: here.iter(),
            rest,
        }
    }

    fn chunks_mut(&mut self) -> &mut Vec<Arc<[Id]>> {
        if let Chunks::One(chunk) = &self.chunks {
            self.chunks = Chunks::Many(Arc::new(vec![Arc::clone(chunk)]));
        }
        match &mut self.chunks {
            Chunks::Many(chunks) => Arc::make_mut(chunks),
            Chunks::One(_) => unreachable!("just made many"),
        }
    }

    fn settle(&mut self) {
        if let Chunks::Many(chunks) = &self.chunks
            && let [chunk] = &chunks[..]
        {
            self.chunks = Chunks::One(Arc::clone(chunk));
        }
    }
}

/// The elements of a list, in its order.
#[derive(Clone, Default)]
pub(crate) struct Ids<'a> {
    here: std::slice::Iter<'a, Id>,
    rest: std::slice::Iter<'a, Arc<[Id]>>,
    /// How many of the rest are wanted.
    left: usize,
}

impl Ids<'_> {
    /// Goes to the next chunk.
    #[inline(never)]
    fn turn(&mut self) -> Option<Id> {
        let chunk = self.rest.next()?;
        let here = &chunk[..self.left.min(chunk.len())];
        self.left -= here.len();
        self.here = here.iter();
        self.here.next().copied()
    }
}

impl Iterator for Ids<'_> {
    type Item = Id;

    #[inline]
    fn next(&mut self) -> Option<Id> {
        match self.here.next() {
            Some(id) => Some(*id),
            None => self.turn(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.here.len() + self.left;
        (left, Some(left))
    }

    #[inline]
    fn fold<A, F: FnMut(A, Id) -> A>(self, first: A, mut pass: F) -> A {
        let mut so_far = self.here.copied().fold(first, &mut pass);
        let mut left = self.left;
        for chunk in self.rest {
            let here = &chunk[..left.min(chunk.len())];
            left -= here.len();
            so_far = here.iter().copied().fold(so_far, &mut pass);
        }
        so_far
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::shape::Shipped;
    use crate::tests::{Small, sound};

    #[test]
    fn stays_sorted_while_chunks_split_join_and_vanish() {
        splits_joins_and_vanishes::<Shipped>();
        splits_joins_and_vanishes::<Small>();
    }

    fn splits_joins_and_vanishes<S: Shape>() {
        let mut list = IdList::<S>::default();
        let mut model = std::collections::BTreeSet::new();
        // A full-period walk over 4,096 numbers, put in and then taken out in another order.
        for i in 0..4096_u32 {
            let id = i.wrapping_mul(1_597) & 4095;
            let Err(place) = list.search(|held| held.cmp(&id)) else {
                panic!("{id} is twice")
            };
            list.insert(place, id);
            model.insert(id);
        }
        assert!(sound::list(&list) && list.iter().eq(model.iter().copied()));
        assert!(list.chunks().len() >= 4096 / S::LONGEST);
        for i in 0..4096_u32 {
            let id = i.wrapping_mul(2_741) & 4095;
            let Ok(place) = list.search(|held| held.cmp(&id)) else {
                panic!("{id} is lost")
            };
            list.remove(place);
            model.remove(&id);
            if i % 64 == 0 {
                assert!(sound::list(&list) && list.iter().eq(model.iter().copied()));
            }
        }
        assert!(list.is_empty() && list.chunks().is_empty());
    }

    #[test]
    fn ranges_know_their_length() {
        lengths_of_ranges::<Shipped>();
        lengths_of_ranges::<Small>();
    }

    fn lengths_of_ranges<S: Shape>() {
        let list = IdList::<S>::from_slice(&(0..3000).collect::<Vec<_>>());
        for (from, to) in [
            (0, 3000),
            (0, 0),
            (767, 768),
            (768, 769),
            (100, 2999),
            (2999, 3000),
        ] {
            let place = |id: Id| {
                list.search(|held| held.cmp(&id))
                    .unwrap_or_else(|place| place)
            };
            let range = list.between(place(from), Some(place(to)));
            assert_eq!(range.size_hint().0, (to - from) as usize);
            assert!(range.eq(from..to));
        }
    }
}
