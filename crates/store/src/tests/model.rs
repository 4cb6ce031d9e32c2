//! The naive store: one sorted map, and indexes recomputed from nothing for every question.
//!
//! Written from ST-02, ST-03, ST-05, IX-08, STX-1, STX-3; shares no code with the store.

use std::collections::{BTreeMap, BTreeSet};

/// An object of a history: which indexed values it has, and a number that tells it from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) labels: Vec<u8>,
    pub(crate) serial: u64,
}

/// One step of a history. Namespaces and names are small numbers, so that they meet often.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Upsert {
        key: String,
        labels: Vec<u8>,
    },
    Delete {
        key: String,
    },
    /// `None` is every namespace.
    Replace {
        namespace: Option<String>,
        list: Vec<(String, Vec<u8>)>,
    },
    /// Stores once more what is stored, under the same keys, as a relist without news does.
    Relist,
    Mark {
        namespace: Option<String>,
        version: u8,
    },
}

/// What a history is made of.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Commit(Vec<Change>),
    AddIndex(usize),
    /// Computes an index over what is stored now.
    PrepareIndex(usize),
    /// Computes what changed since.
    CatchUp,
    /// Adds the prepared index, if there is one.
    InstallIndex,
    RemoveIndex(usize),
}

/// How the indexes of a history are called, by number.
pub(crate) const INDEXES: [&str; 3] = ["labels", "parity", "nothing"];

/// What each of them says about an object; duplicates are left in on purpose.
pub(crate) fn values(index: usize, thing: &Thing) -> Vec<String> {
    match index {
        0 => thing
            .labels
            .iter()
            .map(|label| format!("l{label}"))
            .collect(),
        1 => thing
            .labels
            .iter()
            .map(|label| format!("p{}", label % 2))
            .collect(),
        _ => Vec::new(),
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) items: BTreeMap<String, Thing>,
    pub(crate) indexes: BTreeSet<usize>,
    pub(crate) versions: BTreeMap<Option<String>, String>,
    pub(crate) sequence: u64,
}

impl Model {
    pub(crate) fn belongs(key: &str, namespace: Option<&str>) -> bool {
        match namespace {
            None => true,
            Some(namespace) => key
                .split_once('/')
                .is_some_and(|(held, _)| held == namespace),
        }
    }

    /// The serial numbers say which object is meant: the store is given the same ones.
    pub(crate) fn apply(&mut self, change: &Change, mut serial: impl FnMut() -> u64) {
        match change {
            Change::Upsert { key, labels } => {
                let thing = Thing {
                    labels: labels.clone(),
                    serial: serial(),
                };
                self.items.insert(key.clone(), thing);
            }
            Change::Delete { key } => {
                self.items.remove(key);
            }
            Change::Replace { namespace, list } => {
                let namespace = namespace.as_deref();
                self.items.retain(|key, _| !Self::belongs(key, namespace));
                for (key, labels) in list {
                    let thing = Thing {
                        labels: labels.clone(),
                        serial: serial(),
                    };
                    if Self::belongs(key, namespace) {
                        self.items.insert(key.clone(), thing);
                    }
                }
            }
            Change::Relist => {}
            Change::Mark { namespace, version } => {
                self.versions.insert(namespace.clone(), version.to_string());
            }
        }
    }

    /// Keys by value, recomputed from scratch (STX-1).
    pub(crate) fn index(&self, index: usize) -> BTreeMap<String, BTreeSet<String>> {
        let mut keys = BTreeMap::<_, BTreeSet<_>>::new();
        for (key, thing) in &self.items {
            for value in values(index, thing) {
                keys.entry(value).or_default().insert(key.clone());
            }
        }
        keys
    }
}
