//! The objects of one resource: the living ones, and the log of how they came to be so.
//!
//! The log is what watchers read and what old states are computed from; there is no buffer per
//! watcher. It is bounded: what falls off its end is remembered as `dropped`.

// - COL-1: the log is in the order of versions, each greater than `dropped`.
// - COL-2: undoing the log from its end leads through every state since `dropped`.
//   Tested in `proof`.

use std::{
    collections::{BTreeMap, VecDeque},
    iter::Peekable,
    ops::Bound,
    sync::Arc,
};

use crate::{Change, Object, Resource, Selection};

#[derive(Debug)]
pub(crate) struct Collection {
    pub(crate) resource: Arc<Resource>,
    live: BTreeMap<String, Object>,
    log: VecDeque<Arc<Change>>,
    /// The version of the newest change no longer in the log; 0 if none is missing.
    dropped: u64,
}

/// The key objects are ordered by, as in etcd.
pub(crate) fn key(namespace: Option<&str>, name: &str) -> String {
    let namespace = namespace.unwrap_or_default();
    let mut key = String::with_capacity(namespace.len() + 1 + name.len());
    key.push_str(namespace);
    key.push('/');
    key.push_str(name);
    key
}

pub(crate) fn key_of(object: &Object) -> String {
    key(object.namespace(), object.name())
}

impl Collection {
    pub(crate) fn new(resource: Resource) -> Self {
        Self {
            resource: Arc::new(resource),
            live: BTreeMap::new(),
            log: VecDeque::new(),
            dropped: 0,
        }
    }

    pub(crate) fn get(&self, namespace: Option<&str>, name: &str) -> Option<&Object> {
        self.live.get(&key(namespace, name))
    }

    /// Takes one write into the state and the log, which keeps at most `limit` entries.
    pub(crate) fn record(&mut self, change: Change, limit: usize) {
        let newest = self.newest();
        assert!(change.version > newest, "COL-1: versions only grow");
        let key = key_of(&change.object);
        let before = if change.deleted {
            self.live.remove(&key)
        } else {
            self.live.insert(key, change.object.clone())
        };
        assert_eq!(
            before.is_some(),
            change.before.is_some(),
            "COL-2: the change fits the state"
        );
        self.log.push_back(Arc::new(change));
        while self.log.len() > limit {
            self.drop_oldest();
        }
    }

    fn newest(&self) -> u64 {
        self.log
            .back()
            .map_or(self.dropped, |change| change.version)
    }

    fn drop_oldest(&mut self) {
        if let Some(change) = self.log.pop_front() {
            self.dropped = change.version;
        }
    }

    /// The version of the newest change no longer in the log.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Forgets changes up to this version.
    pub(crate) fn forget(&mut self, version: u64) {
        while self
            .log
            .front()
            .is_some_and(|change| change.version <= version)
        {
            self.drop_oldest();
        }
    }

    /// Undoes every change after this version.
    // FM-39
    pub(crate) fn rewind(&mut self, version: u64) {
        while self
            .log
            .back()
            .is_some_and(|change| change.version > version)
        {
            let Some(change) = self.log.pop_back() else {
                return;
            };
            let key = key_of(&change.object);
            match &change.before {
                Some(before) => self.live.insert(key, before.clone()),
                None => self.live.remove(&key),
            };
        }
    }

    /// At most `limit` changes after this version, oldest first.
    pub(crate) fn changes_after(
        &self,
        version: u64,
        limit: usize,
    ) -> impl Iterator<Item = &Arc<Change>> {
        let start = self.log.partition_point(|change| change.version <= version);
        self.log.range(start..).take(limit)
    }

    /// The last `count` changes up to this version, oldest first.
    pub(crate) fn changes_up_to(&self, version: u64, count: usize) -> Vec<Arc<Change>> {
        let end = self.log.partition_point(|change| change.version <= version);
        self.log
            .range(end.saturating_sub(count)..end)
            .cloned()
            .collect()
    }

    /// The selected objects as they were at this version, in the order of keys, behind `after`.
    ///
    /// The version must not be older than `dropped`.
    pub(crate) fn at<'a>(
        &'a self,
        version: u64,
        after: Option<&str>,
        selection: &'a Selection,
    ) -> impl Iterator<Item = &'a Object> {
        assert!(
            version >= self.dropped,
            "COL-2: only states the log leads to can be asked for"
        );
        let mut old: BTreeMap<String, Option<&Object>> = BTreeMap::new();
        for change in self.changes_after(version, usize::MAX) {
            // The first change after the version knows the state at the version.
            old.entry(key_of(&change.object))
                .or_insert(change.before.as_ref());
        }
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let old = old.into_iter().filter(move |(key, _)| match start {
            Bound::Excluded(after) => key.as_str() > after,
            _ => true,
        });
        let old: Vec<_> = old.collect();
        let live = self.live.range::<str, _>((start, Bound::Unbounded));
        Rewound {
            live: live.peekable(),
            old: old.into_iter().peekable(),
        }
        .filter(|object| selection.matches(object))
    }

    /// How many objects there are now.
    pub(crate) fn len(&self) -> usize {
        self.live.len()
    }
}

/// The living objects, with those that changed since replaced by what they were.
struct Rewound<L: Iterator, O: Iterator> {
    live: Peekable<L>,
    old: Peekable<O>,
}

impl<'a, L, O> Iterator for Rewound<L, O>
where
    L: Iterator<Item = (&'a String, &'a Object)>,
    O: Iterator<Item = (String, Option<&'a Object>)>,
{
    type Item = &'a Object;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let live = self.live.peek().map(|(key, _)| key.as_str());
            let Some((old, _)) = self.old.peek() else {
                return self.live.next().map(|(_, object)| object);
            };
            if live.is_some_and(|live| live < old.as_str()) {
                return self.live.next().map(|(_, object)| object);
            }
            if live == Some(old.as_str()) {
                self.live.next();
            }
            if let Some((_, Some(object))) = self.old.next() {
                return Some(object);
            }
        }
    }
}
