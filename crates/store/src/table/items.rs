//! All records of a store: found by key, listed in key order, addressed by number.
//!
//! Three persistent parts share one numbering: slots hold the records, hashes lead from a key to
//! its number, and the order lists the numbers by key. An update changes the slots alone.

// STX-6: a key is stored once (checked by `tests`).

use std::sync::Arc;

use derive_where::derive_where;

use crate::table::hashes::Hashes;
use crate::table::ids::{Id, IdList, Ids, Place};
use crate::table::record::Record;
use crate::table::records::Records;
use crate::table::shape::Shape;
use crate::table::slots::Slots;

/// All records of one state. Cloning is O(1).
#[derive_where(Clone, Default)]
pub(crate) struct Items<T, S> {
    slots: Slots<Record<T>, S>,
    pub(crate) hashes: Hashes<S>,
    pub(crate) order: IdList<S>,
    /// Numbers below `next` that no record has.
    pub(crate) free: IdList<S>,
    pub(crate) next: Id,
}

impl<T, S: Shape> Items<T, S> {
    /// Returns items with exactly these records, which are sorted by key and get the numbers from
    /// 0.
    pub(crate) fn rebuilt(&self, records: &[Arc<Record<T>>]) -> Self {
        let next = Id::try_from(records.len()).expect("fewer than 2^32 objects");
        Self {
            slots: Slots::from_records(records),
            hashes: self
                .hashes
                .rebuilt(records.iter().map(|record| record.key.as_str())),
            order: IdList::from_slice(&(0..next).collect::<Vec<_>>()),
            free: IdList::default(),
            next,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Whether most of the numbering is unused, so that a new numbering pays.
    pub(crate) fn is_sparse(&self) -> bool {
        self.free.len() >= S::MANY_HOLES && self.free.len() / 3 >= self.len()
    }

    #[inline]
    pub(crate) fn find(&self, key: &str) -> Option<(Id, &Arc<Record<T>>)> {
        self.hashes.find(self.hashes.tag(key), |id| {
            let record = self.at(id);
            (record.key.as_str() == key).then_some((id, record))
        })
    }

    #[inline]
    pub(crate) fn get(&self, key: &str) -> Option<&Arc<Record<T>>> {
        self.find(key).map(|(_, record)| record)
    }

    /// The record with a number that is in use.
    #[inline]
    pub(crate) fn at(&self, id: Id) -> &Arc<Record<T>> {
        self.slots.get(id).expect("a filed number has a record")
    }

    /// Loads the reference counts that an [`update`](Self::update) changes.
    pub(crate) fn fetch(&self, id: Id) {
        self.slots.fetch(id);
    }

    /// Replaces a record by one with the same key, and returns the old one.
    pub(crate) fn update(&mut self, id: Id, record: Arc<Record<T>>) -> Arc<Record<T>> {
        self.slots
            .set(id, Some(record))
            .expect("a filed number has a record")
    }

    /// Stores a record whose key is not stored yet and returns its number.
    pub(crate) fn insert(&mut self, record: Arc<Record<T>>) -> Id {
        let id = self.free.pop().unwrap_or_else(|| {
            let id = self.next;
            self.next = id.checked_add(1).expect("fewer than 2^32 objects");
            id
        });
        let key = record.key.as_str();
        self.hashes.insert(self.hashes.tag(key), id);
        let place = self
            .search(&self.order, key)
            .expect_err("STX-6: a key is stored once");
        self.order.insert(place, id);
        self.slots.set(id, Some(record));
        id
    }

    /// Removes the record with a number that is in use.
    pub(crate) fn remove(&mut self, id: Id) -> Arc<Record<T>> {
        let record = Arc::clone(self.at(id));
        let key = record.key.as_str();
        let place = self
            .search(&self.order, key)
            .expect("a stored key is in order");
        self.order.remove(place);
        self.hashes.remove(self.hashes.tag(key), id);
        self.slots.set(id, None);
        self.free.push(id);
        record
    }

    /// Looks for a key in a list of numbers that is sorted by key.
    pub(crate) fn search(&self, list: &IdList<S>, key: &str) -> Result<Place, Place> {
        list.search(|id| self.at(id).key.as_str().cmp(key))
    }

    /// All records in key order.
    pub(crate) fn iter(&self) -> Records<'_, T, S> {
        self.records(self.order.iter())
    }

    /// The records of one namespace, in key order: one range, since their keys share a prefix.
    pub(crate) fn namespace(&self, namespace: &str) -> Records<'_, T, S> {
        let place = |text: String| {
            self.search(&self.order, &text)
                .unwrap_or_else(std::convert::identity)
        };
        // '0' follows '/' in ASCII, so this is the first text after all that start with "ns/".
        let (from, to) = (
            place(format!("{namespace}/")),
            place(format!("{namespace}0")),
        );
        self.records(self.order.between(from, Some(to)))
    }

    /// The records with these numbers, which lie close to each other.
    fn records<'a>(&'a self, ids: Ids<'a>) -> Records<'a, T, S> {
        Records::new(ids, self.slots.walk())
    }

    /// The records with these numbers, which lie anywhere.
    pub(crate) fn scattered<'a>(&'a self, ids: Ids<'a>) -> Records<'a, T, S> {
        self.records(ids).scattered()
    }

    /// At most `most` records, evenly spread over the numbers.
    pub(crate) fn sample(&self, most: u32) -> impl Iterator<Item = &Arc<Record<T>>> {
        let step = self.next.div_ceil(most).max(1);
        let ids = (0..self.next).step_by(step as usize);
        ids.filter_map(|id| self.slots.get(id))
    }

    /// The record at a place of the key order, and the place after it.
    pub(crate) fn step(&self, place: Place) -> Option<(&Arc<Record<T>>, Place)> {
        self.order.step(place).map(|(id, next)| (self.at(id), next))
    }
}
