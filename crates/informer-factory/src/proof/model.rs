//! The apply step, naively: a map, one event after the other, everything told at once.
//!
//! Written from PD-01..06, design 6.9 and 6.10, STX-7 and PR-2..5; shares no code with what it judges.

use std::collections::BTreeMap;

use super::history::{Event, Received};

/// What a handler is told, objects as numbers.
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
    /// The epoch of everything stored: a rewind begins with a relist, which touches it all.
    epochs: BTreeMap<&'static str, u32>,
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
        if let Some(&old) = self.stored.get(key) {
            let known = &received[old];
            let comparable = self.epochs[key] == new.epoch;
            // STX-7: within an epoch time does not go back.
            if comparable && is_before(new.version, known.version) {
                return;
            }
            let another_life = !new.uid.is_empty() && !known.uid.is_empty() && new.uid != known.uid;
            if !another_life {
                // 6.9: what did not change is not told.
                if comparable && !new.version.is_empty() && new.version == known.version {
                    return;
                }
                if !refused {
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
            // 6.10: two lives, two notifications.
            self.vanish(key, told);
        }
        if !refused {
            self.put(object, received);
            told.push(Told::Added {
                key,
                object,
                initial,
            });
        }
    }

    fn delete(&mut self, object: usize, received: &[Received], told: &mut Vec<Told>) {
        let gone = &received[object];
        let Some(&stored) = self.stored.get(gone.key) else {
            return; // PR-2: nobody was told of it.
        };
        let known = &received[stored];
        if !gone.uid.is_empty() && gone.uid == known.uid {
            self.stored.remove(gone.key);
            told.push(Told::Deleted {
                key: gone.key,
                last: object,
            });
            return;
        }
        let comparable = self.epochs[gone.key] == gone.epoch;
        if comparable && is_before(gone.version, known.version) {
            return; // 6.10: the end of an earlier life.
        }
        if gone.uid.is_empty() || known.uid.is_empty() {
            self.stored.remove(gone.key);
            told.push(Told::Deleted {
                key: gone.key,
                last: object,
            });
        } else {
            self.vanish(gone.key, told);
        }
    }

    fn vanish(&mut self, key: &'static str, told: &mut Vec<Told>) {
        if let Some(last) = self.stored.remove(key) {
            told.push(Told::Tombstone { key, last });
        }
    }

    fn put(&mut self, object: usize, received: &[Received]) {
        let new = &received[object];
        self.stored.insert(new.key, object);
        self.epochs.insert(new.key, new.epoch);
    }

    /// At the end of a lease all that is stored is of the newest epoch: a rewind begins with a
    /// relist, which named every object.
    pub(super) fn settle(&mut self, epoch: u32) {
        self.epochs.values_mut().for_each(|of| *of = epoch);
    }
}

/// Versions are numbers here, or say nothing.
fn is_before(a: &str, b: &str) -> bool {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(a), Ok(b)) => a < b,
        _ => false,
    }
}
