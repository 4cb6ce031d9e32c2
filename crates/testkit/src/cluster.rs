//! The history of all resources: one revision counter, as in etcd, and what may be read of it.
//!
//! Pure: time comes in as text, uids from a seeded generator. Never waits, wakes or serves; see
//! `server`. Writes are in `write.rs`, lists in `listing.rs`.

// - CLU-1: every successful write has a version of its own, greater than every one before it.
// - CLU-2: a state or a watch below the compaction is answered with 410.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::{Object, Rejection, Resource, collection::Collection};

/// Objects, versions and compaction of a whole API server, without any serving.
#[derive(Debug)]
pub struct Cluster {
    pub(crate) collections: Vec<Collection>,
    revision: u64,
    compacted: u64,
    /// Grows with every [`Cluster::restore`], so that watchers of the old history notice.
    epoch: u64,
    history_limit: usize,
    pub(crate) page_limit: Option<usize>,
    /// How many objects of each name there have been, where uids are to tell.
    pub(crate) lives: Option<BTreeMap<String, u64>>,
    random: StdRng,
}

/// Where a resource is kept; valid for the cluster that gave it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceId(pub(crate) usize);

impl Cluster {
    /// An empty cluster at this revision; it keeps `history_limit` changes per resource.
    pub fn new(revision: u64, history_limit: usize, seed: u64) -> Self {
        Self {
            collections: Vec::new(),
            revision,
            compacted: 0,
            epoch: 0,
            history_limit,
            page_limit: None,
            lives: None,
            random: StdRng::seed_from_u64(seed),
        }
    }

    /// Makes a resource known; one that is known already stays as it is.
    pub fn register(&mut self, resource: Resource) -> ResourceId {
        if let Ok(known) = self.find(&resource) {
            return known;
        }
        self.collections.push(Collection::new(resource));
        ResourceId(self.collections.len() - 1)
    }

    /// Looks a resource up by group and plural.
    ///
    /// # Errors
    ///
    /// 404 if it is not registered.
    pub fn find(&self, resource: &Resource) -> Result<ResourceId, Rejection> {
        let position = self
            .collections
            .iter()
            .position(|known| known.resource.is_same(resource));
        position.map(ResourceId).ok_or_else(Rejection::no_such_path)
    }

    /// All resources, in the order in which they were registered.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.collections
            .iter()
            .map(|collection| &*collection.resource)
    }

    pub(crate) fn collection(&self, id: ResourceId) -> &Collection {
        &self.collections[id.0]
    }

    /// The version of the last write.
    pub fn version(&self) -> u64 {
        self.revision
    }

    /// The version below which nothing can be asked for.
    pub fn compacted(&self) -> u64 {
        self.compacted
    }

    /// How many times the history was rewound.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The oldest state of a resource that can be asked for.
    pub fn oldest(&self, id: ResourceId) -> u64 {
        self.compacted.max(self.collection(id).dropped())
    }

    /// One object.
    ///
    /// # Errors
    ///
    /// 404 if it does not exist.
    pub fn get(
        &self,
        id: ResourceId,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Object, Rejection> {
        let collection = self.collection(id);
        let found = collection.get(namespace, name).cloned();
        found.ok_or_else(|| Rejection::not_found(&collection.resource, name))
    }

    /// How many objects of a resource there are.
    pub fn count(&self, id: ResourceId) -> usize {
        self.collection(id).len()
    }

    /// Compacts the history up to this version, or up to now: older states, continue tokens and
    /// watches from older versions are answered with 410 from here on.
    ///
    /// What open watches have still to send is kept until it falls off the log.
    pub fn compact(&mut self, version: u64) {
        self.compacted = self.compacted.max(version.min(self.revision));
    }

    /// Drops the log up to the compaction, and with it what slow watches have still to send.
    pub fn forget_compacted(&mut self) {
        for collection in &mut self.collections {
            collection.forget(self.compacted);
        }
    }

    /// Rewinds the history to this version, as restoring etcd from a backup does: later
    /// writes never happened, and their versions will be given out again.
    ///
    /// # Errors
    ///
    /// 410 if the log does not reach back that far, 504 if the version has not been reached yet.
    // FM-39
    pub fn restore(&mut self, version: u64) -> Result<(), Rejection> {
        if version > self.revision {
            return Err(Rejection::too_large(version, self.revision));
        }
        let dropped = self.collections.iter().map(Collection::dropped).max();
        if let Some(dropped) = dropped.filter(|dropped| *dropped > version) {
            return Err(Rejection::expired(version, dropped));
        }
        for collection in &mut self.collections {
            collection.rewind(version);
        }
        self.compacted = self.compacted.min(version);
        self.revision = version;
        self.epoch += 1;
        Ok(())
    }

    /// Gives out versions without writing, as other tenants of the same etcd do.
    pub fn skip_versions(&mut self, count: u64) {
        self.revision += count;
    }

    pub(crate) fn next_version(&self) -> u64 {
        self.revision + 1
    }

    pub(crate) fn record(&mut self, id: ResourceId, change: crate::Change) {
        assert_eq!(
            change.version,
            self.revision + 1,
            "CLU-1: no version is given out twice"
        );
        self.revision = change.version;
        self.collections[id.0].record(change, self.history_limit);
    }

    /// Prepares a write, and takes back what that draws: uids and generated names.
    pub(crate) fn dry_run<R>(&mut self, prepare: impl FnOnce(&mut Self) -> R) -> R {
        let (random, lives) = (self.random.clone(), self.lives.clone());
        let prepared = prepare(self);
        (self.random, self.lives) = (random, lives);
        prepared
    }

    /// A random uid of version 4, or a readable one.
    pub(crate) fn new_uid(&mut self, namespace: Option<&str>, name: &str) -> String {
        if let Some(lives) = &mut self.lives {
            let key = crate::collection::key(namespace, name);
            let life = lives.entry(key.clone()).or_default();
            *life += 1;
            return format!("{}-{life}", key.trim_start_matches('/'));
        }
        let bits: u128 = self.random.random();
        let bits = bits & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
        let hex = format!("{bits:032x}");
        let parts = [
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..],
        ];
        parts.join("-")
    }

    /// The random end of a generated name.
    pub(crate) fn new_suffix(&mut self) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let mut letter = || char::from(LETTERS[self.random.random_range(0..LETTERS.len())]);
        (0..5).map(|_| letter()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_look_like_uuids_and_repeat_with_the_seed() {
        let uids = |seed| {
            let mut cluster = Cluster::new(0, 10, seed);
            [(); 2].map(|()| cluster.new_uid(None, "a"))
        };
        let [first, second] = uids(1);
        assert_eq!(first.len(), 36);
        assert_eq!((&first[14..15], &first[19..20]), ("4", &first[19..20]));
        assert!("89ab".contains(&first[19..20]));
        assert_ne!(first, second);
        assert_eq!(uids(1), [first, second]);
        assert_ne!(uids(1), uids(2));
    }
}
