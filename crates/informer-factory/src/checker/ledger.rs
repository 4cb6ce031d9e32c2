//! What the store held at one version, as two hashes for each key, and how a list differs from it.
//!
//! A ledger of hashes, not the snapshot itself, so that a check keeps no old object alive while the
//! server answers. The hashes are keyed with the informer's seed, so a user who can only
//! choose names cannot hide a difference behind a collision.
//!
//! A difference counts only while the store still holds what it held. What changed meanwhile may
//! have been on its way: where several changes are of one version, a lease of etcd that expired for
//! example, the version is reached with the first of them.

// FM-61

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use informer_object::{Identity, ResourceVersion, Uid};
use informer_store::{Entry, ObjectKey, Scope, Snapshot};

use crate::applying::source_entries;
use crate::checker::consistency::Mismatch;

/// So many listed objects at most are kept to be confirmed.
const MOST_SUSPECTS: usize = 1_000;

/// Hashes with a key of their own.
#[derive(Clone, Copy, Debug)]
struct Hashing(u64);

impl Hashing {
    fn key(self, key: &ObjectKey) -> u64 {
        self.hash(key.as_str())
    }

    fn state(self, uid: &Uid, version: &ResourceVersion) -> u64 {
        self.hash(((!planted!(UidOverlooked)).then_some(uid), version))
    }

    fn hash(self, value: impl Hash) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one((self.0, value))
    }
}

/// The stored objects of one source at one version, and how a list differs from them.
#[derive(Debug)]
pub(crate) struct Ledger {
    hashing: Hashing,
    /// Key and state, sorted by key once it is complete.
    states: Vec<(u64, u64)>,
    /// Which of the states the list had.
    seen: Vec<bool>,
    suspects: Vec<Suspect>,
    /// Keys that the store cannot hold in the server's version.
    // IN-7
    quarantined: HashSet<ObjectKey>,
}

/// An object of the list that the store held otherwise, and how.
#[derive(Debug)]
struct Suspect {
    key: ObjectKey,
    held: Option<u64>,
}

impl Ledger {
    /// An empty one.
    pub(crate) fn new(seed: u64, quarantined: HashSet<ObjectKey>) -> Self {
        Self {
            hashing: Hashing(seed),
            states: Vec::new(),
            seen: Vec::new(),
            suspects: Vec::new(),
            quarantined,
        }
    }

    /// Writes down what the store holds under one key.
    pub(crate) fn write<T>(&mut self, key: &ObjectKey, entry: &Entry<T>) {
        if !self.leaves_out(key) {
            let state = self.hashing.state(&entry.uid, &entry.version);
            self.states.push((self.hashing.key(key), state));
        }
    }

    /// Completes the ledger, which a list can then be compared with.
    pub(crate) fn complete(&mut self) {
        self.states.sort_unstable();
        self.seen = vec![false; self.states.len()];
    }

    /// Compares one object of the list.
    pub(crate) fn compare(&mut self, identity: &Identity) {
        let key = &identity.key;
        if self.leaves_out(key) {
            return;
        }
        let hash = self.hashing.key(key);
        let found = self.states.binary_search_by_key(&hash, |held| held.0);
        let held = found.ok().map(|at| {
            self.seen[at] = true;
            self.states[at].1
        });
        let state = self.hashing.state(&identity.uid, &identity.version);
        if held != Some(state) && self.suspects.len() < MOST_SUSPECTS {
            let key = key.clone();
            self.suspects.push(Suspect { key, held });
        }
    }

    fn leaves_out(&self, key: &ObjectKey) -> bool {
        self.quarantined.contains(key) && !planted!(QuarantineCompared)
    }

    /// Counts what the store still holds as it did, now that the list is complete; what the list
    /// left out is suspect too. `quarantined` are keys that the store cannot hold by now.
    pub(crate) fn confirm<T>(
        self,
        version: &ResourceVersion,
        store: &Snapshot<T>,
        scope: &Scope,
        quarantined: &HashSet<ObjectKey>,
    ) -> Option<Mismatch> {
        let mut found = Mismatch::none(version.clone());
        let state = |entry: &Entry<T>| self.hashing.state(&entry.uid, &entry.version);
        for Suspect { key, held } in self.suspects {
            let is_passing = store.get(key.as_str()).map(state) != held;
            if is_passing && !planted!(PassingMatterCounts) || quarantined.contains(&key) {
                continue;
            }
            match held {
                None => found.missing += 1,
                Some(_) => found.stale += 1,
            }
            found.name(&key);
        }
        // Without an unlisted object the store need not be hashed again.
        if self.seen.contains(&false) && !planted!(ExtraOverlooked) {
            for (key, entry) in source_entries(store, scope) {
                let at = self
                    .states
                    .binary_search(&(self.hashing.key(key), state(entry)));
                if at.is_ok_and(|at| !self.seen[at]) && !quarantined.contains(key) {
                    found.extra += 1;
                    found.name(key);
                }
            }
        }
        (found.missing + found.stale + found.extra > 0).then_some(found)
    }
}
