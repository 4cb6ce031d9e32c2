//! The apply step, naively: a map, one event after the other, everything delivered immediately.
//!
//! Written from PD-01..06, STX-7, IN-7 and PR-2..5; shares no code with what
//! it judges.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Event, Received};

/// A notification of a handler, objects as numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Added {
        key: &'static str,
        object: usize,
        initial: bool,
    },
    Updated {
        key: &'static str,
        old: usize,
        new: usize,
        relist: bool,
    },
    Deleted {
        key: &'static str,
        last: usize,
    },
    Tombstone {
        key: &'static str,
        last: usize,
    },
}

/// The collection of one source. Other sources' objects are beside it and never change.
#[derive(Default)]
pub(super) struct Model {
    pub(super) stored: BTreeMap<&'static str, usize>,
    /// In which epoch each was received.
    epochs: BTreeMap<&'static str, u32>,
    /// Keys whose good version is of a history that is no more.
    timeless: BTreeSet<&'static str>,
    /// Keys whose last version is unusable (IN-7).
    pub(super) quarantined: BTreeSet<&'static str>,
}

impl Model {
    pub(super) fn apply(
        &mut self,
        events: &[Event],
        received: &[Received],
        initial: bool,
        refused: Option<&str>,
    ) -> Vec<Told> {
        let mut told = Vec::new();
        for event in events {
            match event {
                Event::Upsert { object, relist } => {
                    let refused = refused == Some(received[*object].key);
                    self.upsert(*object, *relist, received, initial, refused, &mut told);
                }
                Event::Deleted { object } => self.delete(*object, received, &mut told),
                Event::Vanished { key } => self.vanish(key, &mut told),
                Event::LeftOut { kept } => {
                    let keys: Vec<_> = self.stored.keys().copied().collect();
                    for key in keys.into_iter().filter(|key| !kept.contains(key)) {
                        self.vanish(key, &mut told);
                    }
                }
            }
        }
        told
    }

    fn upsert(
        &mut self,
        object: usize,
        relist: bool,
        received: &[Received],
        initial: bool,
        refused: bool,
        told: &mut Vec<Told>,
    ) {
        let new = &received[object];
        let key = new.key;
        if !new.readable {
            return self.unreadable(new, received, told);
        }
        if let Some(&old) = self.stored.get(key) {
            let known = &received[old];
            let known_version = self.version_of(known);
            let comparable = self.epochs[key] == new.epoch;
            // STX-7: within an epoch time does not go back.
            if comparable && is_before(new.version, known_version) {
                return;
            }
            let another_life = !new.uid.is_empty() && !known.uid.is_empty() && new.uid != known.uid;
            if !another_life {
                // 6.9: what did not change is not announced.
                if comparable && !new.version.is_empty() && new.version == known_version {
                    if !refused {
                        self.quarantined.remove(key);
                    }
                    return;
                }
                if refused {
                    self.outlive(new);
                } else {
                    self.put(object, received);
                    told.push(Told::Updated {
                        key,
                        old,
                        new: object,
                        relist,
                    });
                }
                return;
            }
            // 6.10: a recreated object makes two notifications.
            self.vanish(key, told);
        }
        if !refused {
            self.put(object, received);
            told.push(Told::Added {
                key,
                object,
                // PR-8: what the watch brings is news.
                initial: initial && relist,
            });
        }
    }

    /// FM-53: the last good version stays, unless it has another uid.
    fn unreadable(&mut self, new: &Received, received: &[Received], told: &mut Vec<Told>) {
        if let Some(&old) = self.stored.get(new.key) {
            let known = &received[old];
            let comparable = self.epochs[new.key] == new.epoch;
            if comparable && is_before(new.version, self.version_of(known)) {
                return;
            }
            if !new.uid.is_empty() && !known.uid.is_empty() && new.uid != known.uid {
                self.vanish(new.key, told);
            } else {
                self.outlive(new);
            }
        }
        self.quarantined.insert(new.key);
    }

    /// RFX-15: what is left of an earlier history has no time.
    fn outlive(&mut self, new: &Received) {
        if self.epochs[new.key] != new.epoch {
            self.timeless.insert(new.key);
            self.epochs.insert(new.key, new.epoch);
        }
    }

    fn version_of(&self, known: &Received) -> &'static str {
        match self.timeless.contains(known.key) {
            true => "",
            false => known.version,
        }
    }

    fn delete(&mut self, object: usize, received: &[Received], told: &mut Vec<Told>) {
        let gone = &received[object];
        let Some(&stored) = self.stored.get(gone.key) else {
            self.quarantined.remove(gone.key);
            return; // PR-2: it was never announced.
        };
        let known = &received[stored];
        let same = !gone.uid.is_empty() && gone.uid == known.uid;
        let unknown = gone.uid.is_empty() || known.uid.is_empty();
        let comparable = self.epochs[gone.key] == gone.epoch;
        if !same && comparable && is_before(gone.version, self.version_of(known)) {
            return; // 6.10: the deletion of an earlier object of this name.
        }
        if (same || unknown) && gone.readable {
            self.stored.remove(gone.key);
            self.quarantined.remove(gone.key);
            told.push(Told::Deleted {
                key: gone.key,
                last: object,
            });
        } else {
            self.vanish(gone.key, told);
        }
    }

    fn vanish(&mut self, key: &'static str, told: &mut Vec<Told>) {
        self.quarantined.remove(key);
        if let Some(last) = self.stored.remove(key) {
            told.push(Told::Tombstone { key, last });
        }
    }

    fn put(&mut self, object: usize, received: &[Received]) {
        let new = &received[object];
        self.stored.insert(new.key, object);
        self.timeless.remove(new.key);
        self.quarantined.remove(new.key);
        self.epochs.insert(new.key, new.epoch);
    }
}

/// Versions are numbers here, or say nothing.
fn is_before(a: &str, b: &str) -> bool {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(a), Ok(b)) => a < b,
        _ => false,
    }
}
