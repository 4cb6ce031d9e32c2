//! The objects of the operations: the server's pods, decoded as they are by default.

use std::sync::Arc;

use informer_factory::ObjectKey;
use informer_factory::store::{Entry, ResourceVersion, Uid};
use k8s_openapi::api::core::v1::Pod;

use crate::pod;

/// How many objects changes take turns with, each in two versions.
const CHANGING: usize = 10_000;

/// How many objects pass through queues and to handlers: so few that caches hold them.
const PASSING: usize = 1_000;

/// As the server has by default.
pub(super) const SEED: u64 = 1;

/// A pod with what came with it.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The object.
    pub pod: Arc<Pod>,
    /// As the store has it.
    pub stored_key: ObjectKey,
    uid: Uid,
    version: ResourceVersion,
}

/// Pods in the order in which they were made, which is not that of their keys.
#[derive(Clone, Debug)]
pub struct Pods {
    /// At least one.
    pub all: Arc<[Decoded]>,
    /// The first of the scattered ones once more, for changes.
    pub copies: Arc<[Decoded]>,
}

impl Pods {
    /// So many.
    pub fn decode(count: usize) -> Self {
        assert!(count > 0, "operations need an object");
        let decoded = |index| Decoded::new(&pod::json(SEED, index));
        let all: Arc<[Decoded]> = (0..count).map(decoded).collect();
        let changing = 0..count.min(CHANGING) as u64;
        let copies = changing.map(|turn| all[place(turn, count)].copied());
        Self {
            copies: copies.collect(),
            all,
        }
    }

    /// Each once, in an order that defeats caches, and then again.
    pub fn scattered(&self, turn: u64) -> &Decoded {
        &self.all[place(turn, self.all.len())]
    }

    /// One that passes. It was decoded a moment ago, and is not fetched from memory once more.
    pub fn passing(&self, turn: u64) -> &Decoded {
        &self.all[place(turn, self.all.len().min(PASSING))]
    }
}

/// Where the `turn`th is, of so many: a prime larger than their number visits each.
fn place(turn: u64, count: usize) -> usize {
    let count = count as u64;
    let place = (turn % count) * 2_654_435_761 % count;
    usize::try_from(place).expect("it is less than a length")
}

impl Decoded {
    fn new(json: &str) -> Self {
        let pod: Pod = serde_json::from_str(json).expect("it is a pod");
        Self::of(pod)
    }

    fn of(pod: Pod) -> Self {
        let uid = pod.metadata.uid.as_deref().expect("pods have a uid");
        let version = pod.metadata.resource_version.as_deref();
        let version = version.expect("pods have a version");
        Self {
            stored_key: key(&pod),
            uid: uid.into(),
            version: version.into(),
            pod: Arc::new(pod),
        }
    }

    /// An equal pod that is elsewhere in memory.
    fn copied(&self) -> Self {
        Self::of(Pod::clone(&self.pod))
    }

    /// The key, made of the metadata as for every change that arrives.
    pub fn key(&self) -> ObjectKey {
        key(&self.pod)
    }

    /// As the store takes it.
    pub fn entry(&self) -> Entry<Pod> {
        Entry::new(
            Arc::clone(&self.pod),
            self.uid.clone(),
            self.version.clone(),
        )
    }
}

fn key(pod: &Pod) -> ObjectKey {
    let metadata = &pod.metadata;
    let name = metadata.name.as_deref().expect("pods have a name");
    ObjectKey::new(metadata.namespace.as_deref(), name).expect("its parts are well formed")
}

/// What visiting a pod means: something of the object itself is read.
pub fn visit(pod: &Pod) -> usize {
    pod.metadata.name.as_ref().map_or(0, String::len)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn scattered_places_are_all_of_them() {
        for count in [1, 2, 1_000, 2_048, 100_000] {
            let places: BTreeSet<usize> =
                (0..count as u64).map(|turn| place(turn, count)).collect();
            assert_eq!(places.len(), count);
        }
    }
}
