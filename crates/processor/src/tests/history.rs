//! Random histories of a few objects, as a correct source would send them, and what they lead to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[cfg(test)]
use proptest::prelude::*;

use crate::notification::{Added, Cause, Deleted, Notification, Updated};

/// A key of these proofs.
pub(super) type Key = u8;

/// An object of these proofs: its number. A later state has a greater number.
pub(super) type Object = u64;

pub(super) type News = Notification<Key, Object>;

/// What happens to one key; whether it is an addition, an update or nothing depends on the state.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Set,
    Relist,
    Delete,
    Miss,
    Move,
    Remind,
}

#[cfg(test)]
pub(super) fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => Just(Act::Set),
        1 => Just(Act::Relist),
        4 => Just(Act::Delete),
        1 => Just(Act::Miss),
        1 => Just(Act::Move),
        1 => Just(Act::Remind),
    ]
}

/// The source: keeps the state and makes the notifications a facade would make.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    pub(super) state: BTreeMap<Key, Arc<Object>>,
    next: Object,
    /// Whether additions are still part of the initial list.
    pub(super) initial: bool,
}

impl Source {
    /// What `act` on `key` gives; nothing if there is nothing to do it to.
    pub(super) fn act(&mut self, key: Key, act: Act) -> Option<News> {
        let before = self.state.get(&key).cloned();
        match (act, before) {
            (Act::Set | Act::Relist, before) => {
                self.next += 1;
                let object = Arc::new(self.next);
                self.state.insert(key, Arc::clone(&object));
                let cause = if matches!(act, Act::Set) {
                    Cause::Watch
                } else {
                    Cause::Relist
                };
                Some(match before {
                    None => Notification::Added(Added::new(key, object).initial(self.initial)),
                    Some(old) => Notification::Updated(Updated::new(key, old, object, cause)),
                })
            }
            (Act::Delete, Some(_)) => {
                self.state.remove(&key);
                // The final state is newer than any that was sent.
                self.next += 1;
                let last = Arc::new(self.next);
                Some(Notification::Deleted(Deleted::Known { key, last }))
            }
            (Act::Miss, Some(before)) => {
                self.state.remove(&key);
                Some(Notification::Deleted(Deleted::Unknown {
                    key,
                    last: Some(before),
                }))
            }
            (Act::Move, Some(_)) => {
                self.state.remove(&key);
                self.next += 1;
                let last = Arc::new(self.next);
                Some(Notification::Deleted(Deleted::MovedAway { key, last }))
            }
            (Act::Remind, Some(before)) => Some(reminder(key, &before)),
            (Act::Delete | Act::Miss | Act::Move | Act::Remind, None) => None,
        }
    }
}

pub(super) fn reminder(key: Key, object: &Arc<Object>) -> News {
    let (old, new) = (Arc::clone(object), Arc::clone(object));
    Notification::Updated(Updated::new(key, old, new, Cause::Resync))
}

/// What somebody knows who has been told `heard`: the oracle of RB-6. Says what is wrong with an
/// order of notifications that no handler should see (PR-2, PR-3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fold {
    pub(super) state: BTreeMap<Key, Object>,
    /// Keys of which an initial addition was heard.
    pub(super) initial: BTreeSet<Key>,
}

impl Fold {
    pub(super) fn hear(&mut self, news: &News) -> Result<(), String> {
        let known = self.state.get(news.key()).copied();
        match (news, known) {
            (Notification::Added(Added { key, .. }), Some(_)) => {
                Err(format!("PR-2: {key} was added twice"))
            }
            (
                Notification::Added(Added {
                    key,
                    object,
                    initial,
                }),
                None,
            ) => {
                self.state.insert(*key, **object);
                if *initial {
                    self.initial.insert(*key);
                }
                Ok(())
            }
            (Notification::Updated(Updated { key, .. }), None) => {
                Err(format!("PR-2: {key} was updated and is not there"))
            }
            (
                Notification::Updated(Updated {
                    key,
                    old,
                    new,
                    cause,
                }),
                Some(known),
            ) => {
                if **old != known {
                    return Err(format!("PR-3: {key} was {known}, the update says {old}"));
                }
                if *cause == Cause::Resync && old != new {
                    return Err(format!("a reminder changed {key}"));
                }
                if **new < known {
                    return Err(format!("PR-5: {key} went back from {known} to {new}"));
                }
                self.state.insert(*key, **new);
                Ok(())
            }
            (Notification::Deleted(gone), None) => {
                Err(format!("PR-2: {} ended and is not there", gone.key()))
            }
            (
                Notification::Deleted(Deleted::Unknown {
                    key,
                    last: Some(last),
                }),
                Some(known),
            ) if **last != known => Err(format!(
                "PR-3: {key} was {known}, the tombstone says {last}"
            )),
            (Notification::Deleted(gone), Some(_)) => {
                self.state.remove(gone.key());
                Ok(())
            }
        }
    }
}
