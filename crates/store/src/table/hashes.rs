//! A persistent map from the hash of a key to the slots that may hold the key.
//!
//! One sorted array of plain numbers for each range of hashes: a copy is a block move, and a search
//! starts at the position a uniform hash would have. The caller compares keys where hashes are
//! equal; this map does not contain keys.
//!
//! The hash is keyed at random, since a client that creates objects chooses their names. Nothing
//! observable depends on the hash.

use std::hash::{BuildHasher, Hasher};
use std::marker::PhantomData;
use std::sync::Arc;

use derive_where::derive_where;
use foldhash::quality::RandomState;

use crate::table::ids::Id;
use crate::table::shape::Shape;

/// A persistent multimap from 32 bits of hash to slot numbers. Cloning is O(1).
#[derive_where(Clone)]
pub(crate) struct Hashes<S> {
    /// Segment `i` of `1 << bits` holds the tags that start with the bits of `i`.
    pub(crate) segments: Arc<Vec<Arc<[u64]>>>,
    bits: u32,
    pub(crate) len: usize,
    hasher: RandomState,
    shape: PhantomData<S>,
}

/// Tag in the upper half, slot number in the lower.
fn entry(tag: u32, id: Id) -> u64 {
    (u64::from(tag) << 32) | u64::from(id)
}

impl<S> Default for Hashes<S> {
    fn default() -> Self {
        Self {
            segments: Arc::new(vec![Arc::default()]),
            bits: 0,
            len: 0,
            hasher: RandomState::default(),
            shape: PhantomData,
        }
    }
}

impl<S: Shape> Hashes<S> {
    /// Returns the tag under which a key is filed.
    #[inline]
    pub(crate) fn tag(&self, key: &str) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(key.as_bytes());
        (hasher.finish() >> 32) as u32
    }

    /// Returns a map with the same hash function and exactly these keys, numbered from 0.
    pub(crate) fn rebuilt<'a>(&self, keys: impl Iterator<Item = &'a str>) -> Self {
        let tags = keys.map(|key| self.tag(key));
        let mut all: Vec<u64> = tags.zip(0..).map(|(tag, id)| entry(tag, id)).collect();
        all.sort_unstable();
        let mut bits = 0;
        while all.len() > S::CROWDED << bits {
            bits += 1;
        }
        let mut rest = &all[..];
        let segments = (1..=1_u64 << bits).map(|next| {
            let end = rest.partition_point(|held| held >> 32 < next << (32 - bits));
            let (segment, after) = rest.split_at(end);
            rest = after;
            Arc::from(segment)
        });
        let segments = Arc::new(segments.collect());
        Self {
            segments,
            bits,
            len: all.len(),
            hasher: self.hasher.clone(),
            shape: PhantomData,
        }
    }

    fn segment(&self, tag: u32) -> usize {
        (u64::from(tag) >> (32 - self.bits)) as usize
    }

    /// Calls `make` for the slots filed under a tag, and returns its first result that is not
    /// `None`.
    #[inline]
    pub(crate) fn find<A>(&self, tag: u32, mut make: impl FnMut(Id) -> Option<A>) -> Option<A> {
        let segment = &*self.segments[self.segment(tag)];
        let within = (u64::from(tag) << self.bits) & u64::from(u32::MAX);
        let mut place = ((within * segment.len() as u64) >> 32) as usize;
        let wanted = u64::from(tag);
        while place > 0 && segment[place - 1] >> 32 >= wanted {
            place -= 1;
        }
        for held in &segment[place..] {
            if held >> 32 > wanted {
                return None;
            }
            if held >> 32 == wanted
                && let Some(made) = make(*held as Id)
            {
                return Some(made);
            }
        }
        None
    }

    pub(crate) fn insert(&mut self, tag: u32, id: Id) {
        if self.len >= S::CROWDED << self.bits && self.bits < 24 {
            self.double();
        }
        self.len += 1;
        let place = self.segment(tag);
        let segment = &mut Arc::make_mut(&mut self.segments)[place];
        let new = entry(tag, id);
        let at = segment.partition_point(|held| *held < new);
        let (before, after) = segment.split_at(at);
        *segment = [before, &[new], after].concat().into();
    }

    pub(crate) fn remove(&mut self, tag: u32, id: Id) {
        self.len -= 1;
        let place = self.segment(tag);
        let segment = &mut Arc::make_mut(&mut self.segments)[place];
        let at = segment
            .binary_search(&entry(tag, id))
            .expect("a stored key has its hash filed");
        *segment = [&segment[..at], &segment[at + 1..]].concat().into();
    }

    fn double(&mut self) {
        let bit = 1_u64 << (63 - self.bits);
        let halves = self.segments.iter().flat_map(|segment| {
            let (low, high) = segment.split_at(segment.partition_point(|held| held & bit == 0));
            [Arc::from(low), Arc::from(high)]
        });
        self.segments = Arc::new(halves.collect());
        self.bits += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::shape::Shipped;
    use crate::tests::{Small, sound};

    #[test]
    fn everything_filed_is_found_and_nothing_else() {
        filed_is_found::<Shipped>();
        filed_is_found::<Small>();
    }

    fn filed_is_found<S: Shape>() {
        let keys: Vec<String> = (0..5000).map(|i| format!("ns/{i}")).collect();
        let mut single = Hashes::<S>::default();
        for (id, key) in (0..).zip(&keys) {
            single.insert(single.tag(key), id);
        }
        let bulk = single.rebuilt(keys.iter().map(String::as_str));
        assert_eq!((single.len, bulk.len), (5000, 5000));
        assert!(sound::hashes(&single) && sound::hashes(&bulk));
        assert!(single.bits > 0 && bulk.bits > 0);
        for hashes in [&mut single, &mut bulk.clone()] {
            for (id, key) in (0..).zip(&keys) {
                let tag = hashes.tag(key);
                assert_eq!(
                    hashes.find(tag, |held| (held == id).then_some(id)),
                    Some(id)
                );
                hashes.remove(tag, id);
                assert_eq!(hashes.find(tag, |held| (held == id).then_some(id)), None);
            }
            assert!(hashes.len == 0 && sound::hashes(hashes));
        }
        assert_eq!(bulk.len, 5000);
    }

    // SEC-25: each store hashes in its own way, so no client can choose names that collide in it.
    #[test]
    fn no_two_stores_hash_alike() {
        let tag = |_| Hashes::<Shipped>::default().tag("default/web-0");
        let tags: std::collections::HashSet<u32> = (0..64).map(tag).collect();
        assert!(tags.len() > 60, "{tags:?}");
    }

    #[test]
    fn equal_hashes_are_told_apart_by_the_caller() {
        let mut hashes = Hashes::<Shipped>::default();
        for id in 0..3 {
            hashes.insert(u32::MAX, id);
        }
        assert_eq!(hashes.find(u32::MAX, |id| (id == 2).then_some(id)), Some(2));
        assert_eq!(hashes.find(u32::MAX, |_| None::<Id>), None);
        assert_eq!(hashes.find(0, Some), None);
    }
}
