//! A relist becomes visible in one step.
//!
//! Judged from what the consumer's store shows and from what the server said, without regard to how
//! a queue groups its changes: if the store shows one object of a list, then each key shows what
//! the list says of it, or something newer.

use std::collections::BTreeMap;

use super::model::{Key, Store, Value};

/// Objects of lists begin here; objects of single changes are the clock, which is below it.
pub(super) const LISTED: Value = 1 << 20;

/// When an object was made.
fn born(value: Value) -> u32 {
    if value < LISTED {
        value
    } else {
        (value - LISTED) / 16
    }
}

/// The lists that a server sent, and when it said that a key is gone.
#[derive(Clone, Default)]
pub(super) struct Lists {
    /// By the time they were sent.
    sent: BTreeMap<u32, Store>,
    gone: BTreeMap<Key, u32>,
}

impl Lists {
    pub(super) fn received(&mut self, now: u32, items: &[(Key, Value)]) {
        let before = self.sent.last_entry();
        let known = before.map(|entry| entry.get().clone()).unwrap_or_default();
        let list: Store = items.iter().copied().collect();
        for key in known.keys().filter(|key| !list.contains_key(key)) {
            self.gone.insert(*key, now);
        }
        self.sent.insert(now, list);
    }

    pub(super) fn deleted(&mut self, now: u32, key: Key) {
        self.gone.insert(key, now);
    }

    /// From here on the lists sent so far may be seen in part.
    pub(super) fn torn(&mut self) {
        self.sent.clear();
    }

    pub(super) fn judge(&self, store: &Store) -> Result<(), String> {
        for (&sent, list) in &self.sent {
            let is_shown = list
                .iter()
                .any(|(key, value)| store.get(key) == Some(value));
            let is_behind = |key: &&Key| match (store.get(key), list.get(key)) {
                (Some(held), listed) => listed != Some(held) && born(*held) < sent,
                (None, Some(_)) => self.gone.get(key).is_none_or(|gone| *gone < sent),
                (None, None) => false,
            };
            let behind = store.keys().chain(list.keys()).find(is_behind);
            if let Some(key) = behind.filter(|_| is_shown) {
                return Err(format!(
                    "the store {store:?} shows a part of the list {list:?} of \
                     {sent}, and key {key} as it was before"
                ));
            }
        }
        Ok(())
    }
}
