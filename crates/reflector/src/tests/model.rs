//! A server that remembers everything: the judge of what the machine hands on.
//!
//! Written from the protocol (RL-13, PG-03, FM-39) and not from the machine. One collection of few
//! keys; versions are the positions in one history; restoring a backup begins another branch, in
//! which the same versions mean other things.

use std::{collections::BTreeMap, sync::Arc};

use crate::{Body, DecodeError, DecodeErrorCategory, Identity, Item, ObjectKey, ResourceVersion};

pub(super) type Key = u8;
/// Key to the version of its object.
pub(super) type Snapshot = BTreeMap<Key, u64>;

/// One write. The version is its position, from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub(super) version: u64,
    pub(super) key: Key,
    /// `None` for a delete, else whether the key existed.
    pub(super) upsert: Option<bool>,
    /// The version of the object before a delete.
    pub(super) before: u64,
}

#[derive(Debug)]
pub(super) struct Server {
    branches: Vec<Vec<Write>>,
    pub(super) compacted: u64,
}

impl Server {
    pub(super) fn new() -> Self {
        let mut server = Self {
            branches: vec![Vec::new()],
            compacted: 0,
        };
        server.write(0, false);
        server
    }

    pub(super) fn branch(&self) -> usize {
        self.branches.len() - 1
    }

    pub(super) fn version(&self) -> u64 {
        position(self.branches[self.branch()].len())
    }

    /// Deletes the key, or creates or modifies it. Deleting what is not there creates it.
    pub(super) fn write(&mut self, key: Key, delete: bool) {
        let held = self
            .snapshot(self.branch(), self.version())
            .get(&key)
            .copied();
        let write = Write {
            version: self.version() + 1,
            key,
            upsert: (!delete || held.is_none()).then_some(held.is_some()),
            before: held.unwrap_or_default(),
        };
        let branch = self.branch();
        self.branches[branch].push(write);
    }

    pub(super) fn compact(&mut self) {
        self.compacted = self.version();
    }

    /// Restores a backup taken `back` writes ago.
    pub(super) fn rewind(&mut self, back: u64) {
        let kept = self.version().saturating_sub(back).max(1);
        let mut branch = self.branches[self.branch()].clone();
        branch.truncate(index(kept));
        self.branches.push(branch);
        self.compacted = self.compacted.min(kept);
    }

    pub(super) fn snapshot(&self, branch: usize, version: u64) -> Snapshot {
        let mut snapshot = Snapshot::new();
        for write in &self.branches[branch][..index(version)] {
            match write.upsert {
                Some(_) => snapshot.insert(write.key, write.version),
                None => snapshot.remove(&write.key),
            };
        }
        snapshot
    }

    pub(super) fn after(&self, version: u64) -> Option<Write> {
        self.branches[self.branch()].get(index(version)).copied()
    }

    /// Every state of a key from one version on.
    pub(super) fn states_from(&self, branch: usize, version: u64, key: Key) -> Vec<Option<u64>> {
        let mut states = vec![self.snapshot(branch, version).get(&key).copied()];
        let later = &self.branches[branch][index(version)..];
        let of_key = later.iter().filter(|write| write.key == key);
        states.extend(of_key.map(|write| write.upsert.map(|_| write.version)));
        states
    }
}

fn index(version: u64) -> usize {
    usize::try_from(version).expect("small")
}

fn position(index: usize) -> u64 {
    u64::try_from(index).expect("small")
}

pub(super) fn version(number: u64) -> ResourceVersion {
    ResourceVersion::from(number)
}

/// The object of a key at a version. One in seven cannot be decoded.
pub(super) fn item(key: Key, number: u64) -> Item<()> {
    let error = || DecodeError::new(DecodeErrorCategory::Data, "spec".into(), 1, 1);
    Item {
        identity: Identity::new(
            ObjectKey::new(Some("ns"), &format!("k{key}")).expect("well formed"),
            "u",
            version(number),
        ),
        body: if number % 7 == 6 {
            Body::Undecodable(Box::new(error()))
        } else {
            Body::Decoded(Arc::new(()))
        },
    }
}

/// What [`item`] was made from.
pub(super) fn identity(item: &Item<()>) -> (Key, u64) {
    let key = item.identity.key.name()[1..]
        .parse()
        .expect("a name of ours");
    (key, number(&item.identity.version))
}

pub(super) fn number(version: &ResourceVersion) -> u64 {
    version.as_number().expect("a version of ours")
}
