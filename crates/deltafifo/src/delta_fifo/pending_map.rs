//! The waiting line: each key at most once, in order, found by key, taken from anywhere.
//!
//! One structure for order and content (style B6): values stand in a deque at a position that
//! does not change while they wait, and a hash table holds nothing but positions. Why not an
//! `IndexMap`: taking its front is O(n), and swapping the last entry there breaks the order.
//! Here the front moves up, one taken from the middle leaves a gap which is dropped when the
//! front passes it, and one given back goes before the front: all O(1) amortised, and a key is
//! stored once.
//!
//! - FQ-1: a key stands in the line at most once, and the table knows exactly the positions
//!   that are taken. Asserted here; `tests`

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};

use hashbrown::{HashTable, hash_table};

use crate::key_hash::{self, KeyHash};
use crate::queue_core::ledger::SPARE;

/// Where a key stands. Grows towards the back; only differences mean anything.
pub(crate) type Position = u64;

/// Insertion-ordered map with O(1) removal.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
pub(crate) struct Line<K, T> {
    places: VecDeque<Option<Place<K, T>>>,
    /// Position of the first of `places`.
    front: Position,
    positions: HashTable<Position>,
    hasher: KeyHash,
}

#[derive(Clone)]
struct Place<K, T> {
    hash: u64,
    key: K,
    value: T,
}

impl<K: Eq + Hash, T> Line<K, T> {
    pub(crate) fn new() -> Self {
        Self {
            places: VecDeque::new(),
            // Far from both ends: keys are given back to the front, too.
            front: 1 << 62,
            positions: HashTable::new(),
            hasher: key_hash::random(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        !self.positions.is_empty() && self.find(self.hasher.hash_one(key), key).is_some()
    }

    pub(crate) fn get(&self, key: &K) -> Option<&T> {
        let at = self.find(self.hasher.hash_one(key), key)?;
        Some(&self.place(at).value)
    }

    /// The value of `key`, which is put at the back when it does not wait yet.
    #[inline]
    pub(crate) fn entry(&mut self, key: K) -> Entry<'_, K, T> {
        let hash = self.hasher.hash_one(&key);
        let (places, front) = (&mut self.places, self.front);
        let is_it = |&at: &Position| place(places, front, at).key == key;
        let position = self
            .positions
            .entry(hash, is_it, |&at| place(places, front, at).hash);
        match position {
            hash_table::Entry::Occupied(position) => {
                let at = (*position.get() - front) as usize;
                Entry::Waiting(&mut places[at].as_mut().expect(TAKEN).value)
            }
            hash_table::Entry::Vacant(position) => Entry::Absent(Absent {
                position,
                places,
                front,
                hash,
                key,
            }),
        }
    }

    /// All that wait, from the front.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Position, &K, &T)> {
        let places = (self.front..).zip(&self.places);
        places.filter_map(|(at, place)| {
            let place = place.as_ref()?;
            Some((at, &place.key, &place.value))
        })
    }

    /// All that wait, from the front, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut T)> {
        self.places
            .iter_mut()
            .flatten()
            .map(|place| (&place.key, &mut place.value))
    }

    /// The first that waits.
    pub(crate) fn front(&self) -> Option<&T> {
        Some(&self.places.front()?.as_ref().expect(FRONT).value)
    }

    #[inline]
    pub(crate) fn pop_front(&mut self) -> Option<(K, T)> {
        let place = self.places.pop_front()?.expect(FRONT);
        self.forget(place.hash, self.front);
        self.front += 1;
        self.drop_gaps();
        Some((place.key, place.value))
    }

    /// Takes what stands at `at`; the others keep their positions.
    pub(crate) fn take(&mut self, at: Position) -> (K, T) {
        let index = (at - self.front) as usize;
        let place = self.places[index]
            .take()
            .expect("only taken positions are asked for");
        self.forget(place.hash, at);
        self.drop_gaps();
        while matches!(self.places.back(), Some(None)) {
            self.places.pop_back();
        }
        (place.key, place.value)
    }

    /// Takes all that wait, from the front.
    pub(crate) fn take_all(&mut self) -> impl FnMut() -> (K, T) {
        self.front += self.places.len() as u64;
        self.positions.clear();
        let mut taken = self.places.drain(..).flatten();
        move || {
            let place = taken.next().expect("no more is asked for than waited");
            (place.key, place.value)
        }
    }

    /// Takes `key` out, wherever it stands.
    pub(crate) fn remove(&mut self, key: &K) -> Option<T> {
        let at = self.find(self.hasher.hash_one(key), key)?;
        Some(self.take(at).1)
    }

    /// A planted bug puts a key that is given back behind all others.
    #[cfg(any(test, sim))]
    pub(crate) fn push_last(&mut self, key: K, value: T) {
        match self.entry(key) {
            Entry::Waiting(_) => unreachable!("it was taken out before"),
            Entry::Absent(absent) => absent.push_back(value),
        }
    }

    /// Puts a key that does not wait before all others.
    pub(crate) fn push_front(&mut self, key: K, value: T) {
        let hash = self.hasher.hash_one(&key);
        assert!(
            self.find(hash, &key).is_none(),
            "FQ-1: a key waits at most once"
        );
        self.places.push_front(Some(Place { hash, key, value }));
        self.front -= 1;
        self.index(hash, self.front);
    }

    /// Makes room for so many more keys at once, instead of by doubling again and again.
    pub(crate) fn reserve(&mut self, keys: usize) {
        self.places.reserve(keys);
        let (places, front) = (&self.places, self.front);
        self.positions
            .reserve(keys, |&at| place(places, front, at).hash);
    }

    /// Gives back memory that a past crowd needed.
    #[inline]
    pub(crate) fn shrink(&mut self) {
        if self.places.capacity() > 4 * self.places.len() + SPARE {
            self.places.shrink_to(2 * self.places.len());
        }
        if self.positions.capacity() > 4 * self.positions.len() + SPARE {
            let (places, front) = (&self.places, self.front);
            let hash = |&at: &Position| place(places, front, at).hash;
            self.positions.shrink_to(2 * self.positions.len(), hash);
        }
    }

    fn index(&mut self, hash: u64, at: Position) {
        let (places, front) = (&self.places, self.front);
        self.positions
            .insert_unique(hash, at, |&at| place(places, front, at).hash);
    }

    /// Takes a position out of the table.
    #[inline]
    fn forget(&mut self, hash: u64, at: Position) {
        let entry = self.positions.find_entry(hash, |&other| other == at);
        entry.expect("FQ-1: what waits can be found").remove();
    }

    #[inline]
    fn drop_gaps(&mut self) {
        while matches!(self.places.front(), Some(None)) {
            self.places.pop_front();
            self.front += 1;
        }
    }

    fn find(&self, hash: u64, key: &K) -> Option<Position> {
        self.positions
            .find(hash, |&at| self.place(at).key == *key)
            .copied()
    }

    fn place(&self, at: Position) -> &Place<K, T> {
        place(&self.places, self.front, at)
    }
}

fn place<K, T>(
    places: &VecDeque<Option<Place<K, T>>>,
    front: Position,
    at: Position,
) -> &Place<K, T> {
    places[(at - front) as usize].as_ref().expect(TAKEN)
}

/// A key looked up in the line.
pub(crate) enum Entry<'a, K, T> {
    Waiting(&'a mut T),
    Absent(Absent<'a, K, T>),
}

/// A key that does not wait yet.
pub(crate) struct Absent<'a, K, T> {
    position: hash_table::VacantEntry<'a, Position>,
    places: &'a mut VecDeque<Option<Place<K, T>>>,
    front: Position,
    hash: u64,
    key: K,
}

impl<K, T> Absent<'_, K, T> {
    /// Puts the key at the back.
    #[inline]
    pub(crate) fn push_back(self, value: T) {
        self.position.insert(self.front + self.places.len() as u64);
        let (hash, key) = (self.hash, self.key);
        self.places.push_back(Some(Place { hash, key, value }));
    }
}

const FRONT: &str = "FQ-1: the first place is taken, gaps at the front are dropped";
const TAKEN: &str = "FQ-1: the table knows taken positions only";

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(line: &Line<u32, ()>) -> Vec<u32> {
        line.iter().map(|(_, key, ())| *key).collect()
    }

    fn push(line: &mut Line<u32, ()>, key: u32) {
        match line.entry(key) {
            Entry::Waiting(()) => {}
            Entry::Absent(absent) => absent.push_back(()),
        }
    }

    #[test]
    fn gaps_vanish_and_the_front_is_always_taken() {
        let mut line = Line::new();
        (0..6).for_each(|key| push(&mut line, key));
        push(&mut line, 3);
        for gone in [2, 5, 0, 1] {
            assert_eq!(line.remove(&gone), Some(()));
            assert_eq!(line.remove(&gone), None);
        }
        assert_eq!(keys(&line), [3, 4]);
        assert_eq!(line.places.len(), 2, "no gap is left at either end");
        line.push_front(0, ());
        push(&mut line, 5);
        assert_eq!(keys(&line), [0, 3, 4, 5]);
        assert_eq!(line.pop_front(), Some((0, ())));
        assert_eq!(line.len(), 3);
    }

    /// A relist of a large cluster must not keep its memory for ever.
    #[test]
    fn memory_of_a_past_crowd_is_given_back() {
        let mut line = Line::new();
        (0..100_000).for_each(|key| push(&mut line, key));
        while line.pop_front().is_some() {}
        assert!(line.places.capacity() >= 100_000);
        line.shrink();
        assert!(line.places.capacity() <= SPARE && line.positions.capacity() <= SPARE);
    }
}
