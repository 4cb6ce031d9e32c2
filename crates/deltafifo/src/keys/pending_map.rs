//! An insertion-ordered map with removal in O(1) anywhere, and insertion at both ends.
//!
//! Entries stand in a deque, at an index that does not change while they are in the map; a hash
//! table holds the indexes. Why not an `IndexMap`: it removes its first entry in O(n), or breaks
//! the order. Here the front moves up, an entry removed from the middle leaves a gap that is
//! dropped when the front reaches it, and an entry that comes back goes before the front: all
//! in amortised O(1), and each key is stored once.
//!
//! Keys are hashed and compared before anything changes, so a key whose `Hash` or `Eq` panics
//! leaves the map as it was.

// - FQ-1: a key is in the map at most once, and the table has exactly the indexes of the
//   entries. Asserted here; `tests`

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::keys::hash::{self, KeyHash};
use crate::spare;

/// Where an entry stands. Grows towards the back; only differences have a meaning.
pub(crate) type Index = u64;

/// An insertion-ordered map.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
pub(crate) struct PendingMap<K, T> {
    places: VecDeque<Option<Place<K, T>>>,
    /// Index of the first of `places`.
    front: Index,
    table: HashTable<Index>,
    hasher: KeyHash,
}

#[derive(Clone)]
struct Place<K, T> {
    hash: u64,
    key: K,
    value: T,
}

impl<K: Eq + Hash, T> PendingMap<K, T> {
    pub(crate) fn new() -> Self {
        Self {
            places: VecDeque::new(),
            // Far from both ends: entries are put before the front, too.
            front: 1 << 62,
            table: HashTable::new(),
            hasher: hash::random(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn contains(&self, key: &K) -> bool {
        !self.table.is_empty() && self.find(self.hasher.hash_one(key), key).is_some()
    }

    pub(crate) fn get(&self, key: &K) -> Option<&T> {
        let at = self.find(self.hasher.hash_one(key), key)?;
        Some(&place(&self.places, self.front, at).value)
    }

    #[cfg(any(test, sim))]
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut T> {
        let at = self.find(self.hasher.hash_one(key), key)?;
        let place = self.places[(at - self.front) as usize].as_mut();
        Some(&mut place.expect(TAKEN).value)
    }

    /// Puts an entry behind all others, unless the key is in the map. Returns the value that the
    /// map has for the key, and the arguments if they were not needed.
    #[inline]
    pub(crate) fn push_back(&mut self, key: K, value: T) -> (&mut T, Option<(K, T)>) {
        let hash = self.hasher.hash_one(&key);
        let (places, front) = (&mut self.places, self.front);
        let is_it = |&at: &Index| place(places, front, at).key == key;
        let hash_of = |&at: &Index| place(places, front, at).hash;
        let (index, refused) = match self.table.entry(hash, is_it, hash_of) {
            Entry::Occupied(at) => ((*at.get() - front) as usize, Some((key, value))),
            Entry::Vacant(entry) => {
                let index = places.len();
                entry.insert(front + index as u64);
                places.push_back(Some(Place { hash, key, value }));
                (index, None)
            }
        };
        (&mut places[index].as_mut().expect(TAKEN).value, refused)
    }

    /// Puts an entry before all others. The key must not be in the map.
    pub(crate) fn push_front(&mut self, key: K, value: T) {
        let hash = self.hasher.hash_one(&key);
        let known = self.find(hash, &key);
        assert!(known.is_none(), "FQ-1: a key is pending at most once");
        self.places.push_front(Some(Place { hash, key, value }));
        self.front -= 1;
        let (places, front) = (&self.places, self.front);
        let hash_of = |&at: &Index| place(places, front, at).hash;
        self.table.insert_unique(hash, front, hash_of);
    }

    /// All entries, from the front.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Index, &K, &T)> {
        let places = (self.front..).zip(&self.places);
        places.filter_map(|(at, place)| {
            let place = place.as_ref()?;
            Some((at, &place.key, &place.value))
        })
    }

    /// All values, from the front.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let places = self.places.iter_mut().flatten();
        places.map(|place| &mut place.value)
    }

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

    /// Removes the entry at `at`; the others keep their indexes.
    pub(crate) fn take(&mut self, at: Index) -> (K, T) {
        let place = self.places[(at - self.front) as usize].take();
        let place = place.expect("the index of an entry");
        self.forget(place.hash, at);
        self.drop_gaps();
        while matches!(self.places.back(), Some(None)) {
            self.places.pop_back();
        }
        (place.key, place.value)
    }

    /// Removes all entries, from the front.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = (K, T)> {
        self.front += self.places.len() as u64;
        self.table.clear();
        let taken = self.places.drain(..).flatten();
        taken.map(|place| (place.key, place.value))
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<T> {
        let at = self.find(self.hasher.hash_one(key), key)?;
        Some(self.take(at).1)
    }

    /// Removes all entries, from the front, and maps them in the memory they have. The map has no
    /// memory for entries then; [`take_all`](Self::take_all) is for the usual few.
    pub(crate) fn map_all<R>(&mut self, mut map: impl FnMut((K, T)) -> R) -> Vec<R> {
        self.front += self.places.len() as u64;
        self.table.clear();
        let places = Vec::from(std::mem::take(&mut self.places));
        // `flatten` would not collect in place.
        let taken = places.into_iter();
        let mapped = taken.filter_map(|place| place.map(|place| map((place.key, place.value))));
        mapped.collect()
    }

    /// Makes room for `keys` more keys in one step.
    pub(crate) fn reserve(&mut self, keys: usize) {
        self.places.reserve(keys);
        let (places, front) = (&self.places, self.front);
        self.table
            .reserve(keys, |&at| place(places, front, at).hash);
    }

    /// Gives back the memory that a past burst needed.
    #[inline]
    pub(crate) fn shrink(&mut self) {
        spare::shrink(&mut self.places);
        if let Some(capacity) = spare::excess(self.table.capacity(), self.table.len()) {
            let (places, front) = (&self.places, self.front);
            self.table
                .shrink_to(capacity, |&at| place(places, front, at).hash);
        }
    }

    /// Removes an index from the table.
    #[inline]
    fn forget(&mut self, hash: u64, at: Index) {
        let entry = self.table.find_entry(hash, |&other| other == at);
        entry.expect("FQ-1: each entry can be found").remove();
    }

    #[inline]
    fn drop_gaps(&mut self) {
        while matches!(self.places.front(), Some(None)) {
            self.places.pop_front();
            self.front += 1;
        }
    }

    fn find(&self, hash: u64, key: &K) -> Option<Index> {
        let is_it = |&at: &Index| place(&self.places, self.front, at).key == *key;
        self.table.find(hash, is_it).copied()
    }
}

fn place<K, T>(places: &VecDeque<Option<Place<K, T>>>, front: Index, at: Index) -> &Place<K, T> {
    places[(at - front) as usize].as_ref().expect(TAKEN)
}

const FRONT: &str = "FQ-1: the first place has an entry, gaps at the front are dropped";
const TAKEN: &str = "FQ-1: the table has the indexes of entries only";

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(map: &PendingMap<u32, ()>) -> Vec<u32> {
        map.iter().map(|(_, key, ())| *key).collect()
    }

    #[test]
    fn gaps_vanish_and_the_front_is_always_taken() {
        let mut map = PendingMap::new();
        (0..6).for_each(|key| assert_eq!(map.push_back(key, ()).1, None));
        assert_eq!(map.push_back(3, ()).1, Some((3, ())));
        for gone in [2, 5, 0, 1] {
            assert_eq!(map.remove(&gone), Some(()));
            assert_eq!(map.remove(&gone), None);
        }
        assert_eq!(keys(&map), [3, 4]);
        assert_eq!(map.places.len(), 2, "no gap is left at either end");
        map.push_front(0, ());
        map.push_back(5, ());
        assert_eq!(keys(&map), [0, 3, 4, 5]);
        assert_eq!(map.pop_front(), Some((0, ())));
        assert_eq!(map.len(), 3);
    }

    /// The entries of a large collection must not be in memory twice.
    #[test]
    fn entries_are_mapped_in_their_memory() {
        let mut map = PendingMap::new();
        map.reserve(5_000);
        (0..5_000_u32).for_each(|key| assert!(map.push_back(key, key + 1).1.is_none()));
        map.remove(&7);
        let places = map.places.as_slices().0.as_ptr().addr();
        let all = map.map_all(|(key, value)| u64::from(key) + u64::from(value));
        assert_eq!(all.as_ptr().addr(), places);
        let expected = (0..5_000_u64)
            .filter(|key| *key != 7)
            .map(|key| 2 * key + 1);
        assert!(all.into_iter().eq(expected));
        assert_eq!((map.len(), map.places.capacity()), (0, 0));
        assert!(map.push_back(7, 7).1.is_none());
        assert_eq!(map.take_all().collect::<Vec<_>>(), [(7, 7)]);
    }

    /// A relist of a large cluster must not keep its memory for ever.
    #[test]
    fn memory_of_a_past_crowd_is_given_back() {
        let mut map = PendingMap::new();
        (0..100_000).for_each(|key| assert!(map.push_back(key, ()).1.is_none()));
        while map.pop_front().is_some() {}
        assert!(map.places.capacity() >= 100_000);
        map.shrink();
        assert!(map.places.capacity() <= 1024 && map.table.capacity() <= 1024);
    }
}
