//! Delta -> store mutation -> notification: the heart of the informer, as a pure function.
//!
//! Membership of the store, not the type of the watch event, decides add or update (PD-01). What is
//! decided here and nowhere else:
//!
//! - An object that did not change is not announced, whoever sends it again (design 6.9, FM-37).
//! - Within an epoch no object goes back to an older version (STX-7, PR-5).
//! - A new uid under an old name is the end of one life and the beginning of another: one commit,
//!   `Deleted::Unknown` and then `Added` (design 6.10, FM-45, PR-4).
//! - The deletion of an object that nobody knows is dropped (FM-47, PR-2).
//! - A version that nobody can use, since it cannot be decoded or an index function panics on it,
//!   leaves the last good one where it is, unless that was another life (IN-7, FM-53, STX-10).
//!
//! Nothing here blocks, allocates a task or reads a clock. Tested against a naive model in `tests`,
//! and judged through the whole path in `tests/bad_input`.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use derive_where::derive_where;
use indexmap::IndexMap;
use informer_deltafifo::{Delta, Deltas, Final, Item};
use informer_object::ResourceVersion;
use informer_processor::{Cause, Deleted, Notification};
use informer_reflector::DecodeError;
use informer_store::{Batch, Entry, ObjectKey, Scope, Snapshot};

use crate::applying::arrival::Arrival;
use crate::applying::epochs::Epochs;
use crate::applying::source_entries;
use crate::applying::verdict::{Judgement, Life, Refused, Verdict, judge, same_life};

/// A notification, shared by all handlers.
pub type Event<T> = Arc<Notification<ObjectKey, T>>;

/// The effect of one lease of the queue on the store and on the listeners.
#[derive_where(Default)]
pub(crate) struct Applied<T> {
    /// The mutations, to be committed as one visible step.
    pub(crate) batch: Batch<T>,
    /// The notifications, in order.
    pub(crate) notices: Vec<Event<T>>,
    /// Events that were dropped since the store is newer (FM-37) or knows nothing of them (FM-47).
    pub(crate) dropped: u64,
    /// The epochs of the store after the commit.
    pub(crate) epochs: Epochs,
    /// Whether the last version of a key is usable. Good ones are left out unless they are tracked.
    pub(crate) judged: BTreeMap<ObjectKey, Judgement>,
}

/// The state of one key while a lease is applied.
struct Current<T> {
    entry: Entry<T>,
    epoch: u32,
}

/// Folds the works of one lease over a snapshot of the store.
pub(crate) struct Fold<'a, T> {
    store: &'a Snapshot<T>,
    scope: &'a Scope,
    /// The epochs of what the store holds.
    epochs: &'a Epochs,
    /// The epoch of the newest relist seen.
    epoch: u32,
    initial: bool,
    /// Keys whose objects the store cannot take.
    refused: &'a Refused,
    /// Keys this lease has touched already, in this order; `None` is a key it removed.
    touched: IndexMap<ObjectKey, Option<Current<T>>>,
    /// The effect, but for the batch and the epochs.
    applied: Applied<T>,
    /// Also reports good versions: set while a key is quarantined, which a good version releases.
    pub(crate) track_good: bool,
}

impl<'a, T> Fold<'a, T> {
    /// A fold over `store`, for works that came from the source of `scope`.
    pub(crate) fn new(
        store: &'a Snapshot<T>,
        scope: &'a Scope,
        epochs: &'a Epochs,
        initial: bool,
        refused: &'a Refused,
    ) -> Self {
        Self {
            store,
            scope,
            epochs,
            epoch: epochs.store(),
            initial,
            refused,
            touched: IndexMap::new(),
            applied: Applied::default(),
            track_good: false,
        }
    }

    /// Reserves room for `works` items, which avoids repeated growth.
    pub(crate) fn reserve(&mut self, works: usize) {
        self.touched.reserve(works);
        self.applied.notices.reserve(works);
    }

    /// Applies one work of the queue.
    pub(crate) fn work(&mut self, work: &Item<ObjectKey, Arrival<T>>) {
        match work {
            Item::Key { key, deltas } => self.key(key, deltas),
            Item::Replace { items } => self.replace(items),
            // The facade walks a snapshot for resync (design 6.9) and never asks the queue.
            Item::Resync => {}
        }
    }

    /// The result: one batch, and the notices in order.
    pub(crate) fn finish(self) -> Applied<T> {
        let mut applied = self.applied;
        applied.batch = Batch::with_capacity(self.touched.len() + 1);
        applied.epochs = self.epochs.clone();
        for (key, state) in self.touched {
            match state {
                Some(current) => {
                    applied.epochs.put(&key, current.epoch);
                    applied.batch.upsert(key, current.entry);
                }
                None => {
                    applied.epochs.remove(&key);
                    applied.batch.delete(key);
                }
            }
        }
        applied.epochs.advance(self.epoch);
        applied
    }

    fn key(&mut self, key: &ObjectKey, deltas: &Deltas<Arrival<T>>) {
        for delta in deltas.iter() {
            match delta {
                Delta::Added(arrival) | Delta::Updated(arrival) => {
                    self.upsert(key, arrival, Cause::Watch);
                }
                Delta::Replaced(arrival) => self.upsert(key, arrival, Cause::Relist),
                Delta::Sync(arrival) => self.upsert(key, arrival, Cause::Resync),
                Delta::Deleted(Final::Observed(arrival)) => self.delete_observed(key, arrival),
                Delta::Deleted(Final::Unknown(last)) => {
                    // Only a relist says so: what it leaves out belongs to its epoch.
                    let epoch = last.as_ref().map_or(0, |last| last.epoch);
                    self.epoch = self.epoch.max(epoch);
                    self.delete_unknown(key);
                }
            }
        }
    }

    /// A whole collection: first what it leaves out, then its items in the server's order (PD-06).
    fn replace(&mut self, items: &[(ObjectKey, Arrival<T>)]) {
        let kept: HashSet<&ObjectKey> = items.iter().map(|(key, _)| key).collect();
        let mut gone = self.known_keys();
        gone.retain(|key| !kept.contains(key) && !planted!(ReplaceForgetsDeletes));
        for key in &gone {
            self.delete_unknown(key);
        }
        for (key, arrival) in items {
            self.upsert(key, arrival, Cause::Relist);
        }
    }

    /// The keys of our source as they are now, in key order.
    fn known_keys(&self) -> Vec<ObjectKey> {
        let stored = match planted!(ReplaceIgnoresScope) {
            true => self.store.iter(),
            false => source_entries(self.store, self.scope),
        };
        let mut keys: Vec<ObjectKey> = stored
            .map(|(key, _)| key)
            .filter(|key| !self.touched.contains_key(*key))
            .cloned()
            .collect();
        let touched = self
            .touched
            .iter()
            .filter(|(key, state)| state.is_some() && self.scope.covers(key));
        keys.extend(touched.map(|(key, _)| key.clone()));
        keys.sort_unstable();
        keys
    }

    fn upsert(&mut self, key: &ObjectKey, arrival: &Arrival<T>, cause: Cause) {
        if cause == Cause::Relist {
            // Only a relist takes the store into a new epoch: it names every object there is.
            self.epoch = self.epoch.max(arrival.epoch);
        }
        let object = match &arrival.object {
            Ok(object) => object,
            Err(error) => return self.unusable(key, arrival, error),
        };
        let verdict = match self.current(key) {
            None => Verdict::Add,
            Some((entry, epoch)) => judge(entry, epoch, arrival, cause),
        };
        if self.refused.contains_key(key) && !planted!(RefusedAnnounced) {
            return self.refuse(key, arrival, &verdict);
        }
        match verdict {
            Verdict::Drop => self.applied.dropped += 1,
            Verdict::Keep => {
                self.usable(key, Judgement::Kept);
                // The stored `Arc` stays; only the epoch may have to move on.
                if let Some(Some(current)) = self.touched.get_mut(key) {
                    current.epoch = arrival.epoch;
                }
            }
            Verdict::Add => self.add(key, arrival, object, cause),
            Verdict::Update(old) => {
                self.good(key);
                self.put(key, arrival.entry(object), arrival.epoch);
                let new = Arc::clone(object);
                self.notify(Notification::Updated {
                    key: key.clone(),
                    old,
                    new,
                    cause,
                });
            }
            Verdict::Reborn => {
                self.delete_unknown(key);
                self.add(key, arrival, object, cause);
            }
        }
    }

    /// Adds an object. It is initial if the first list brought it: what the watch brought meanwhile
    /// is new to the handlers.
    // PR-8
    fn add(&mut self, key: &ObjectKey, arrival: &Arrival<T>, object: &Arc<T>, cause: Cause) {
        self.good(key);
        self.put(key, arrival.entry(object), arrival.epoch);
        let initial = self.initial && cause == Cause::Relist && !planted!(InitialFlagLost);
        self.notify(Notification::Added {
            key: key.clone(),
            object: Arc::clone(object),
            initial,
        });
    }

    /// A version that the store cannot take: the last good one stays, unless that was another life.
    fn refuse(&mut self, key: &ObjectKey, arrival: &Arrival<T>, verdict: &Verdict<T>) {
        match verdict {
            Verdict::Reborn => self.delete_unknown(key),
            Verdict::Keep => {}
            Verdict::Update(_) => self.outlive(key, arrival),
            Verdict::Drop | Verdict::Add => self.applied.dropped += 1,
        }
    }

    /// A version that cannot be decoded; the same holds for it.
    fn unusable(&mut self, key: &ObjectKey, arrival: &Arrival<T>, error: &DecodeError) {
        if let Some((entry, epoch)) = self.current(key) {
            if epoch == arrival.epoch && arrival.version.is_older_than(&entry.version) {
                self.applied.dropped += 1;
                return;
            }
            match same_life(entry, arrival) {
                Life::Other => self.delete_unknown(key),
                Life::Same | Life::Unknown => self.outlive(key, arrival),
            }
        }
        let judgement = Judgement::Unusable {
            version: arrival.version.clone(),
            error: error.clone(),
        };
        if !planted!(UnusableIsForgotten) {
            self.applied.judged.insert(key.clone(), judgement);
        }
    }

    /// The last good version outlives one that is of no use. If it is of a history that is no more,
    /// nothing that comes may be taken for older than it.
    fn outlive(&mut self, key: &ObjectKey, arrival: &Arrival<T>) {
        self.applied.dropped += 1;
        if let Some((entry, epoch)) = self.current(key)
            && epoch != arrival.epoch
        {
            let mut entry = entry.clone();
            entry.version = ResourceVersion::unset();
            self.put(key, entry, arrival.epoch);
        }
    }

    /// A deletion that the watch saw. The uid says whose life ended (design 6.10).
    fn delete_observed(&mut self, key: &ObjectKey, arrival: &Arrival<T>) {
        let Some((entry, epoch)) = self.current(key) else {
            self.applied.dropped += 1;
            self.good(key);
            if planted!(StrangerAnnounced) {
                self.remove_known(key, arrival);
            }
            return;
        };
        let older = epoch == arrival.epoch && arrival.version.is_older_than(&entry.version);
        match same_life(entry, arrival) {
            Life::Other if planted!(OldLifeKills) => self.delete_unknown(key),
            Life::Same => self.remove_known(key, arrival),
            Life::Unknown | Life::Other if older => self.applied.dropped += 1,
            Life::Unknown => self.remove_known(key, arrival),
            Life::Other => self.delete_unknown(key),
        }
    }

    /// A deletion that nobody saw; the last state known is the one the handlers had (PR-3).
    fn delete_unknown(&mut self, key: &ObjectKey) {
        self.good(key);
        let Some((entry, _)) = self.current(key) else {
            self.applied.dropped += 1;
            return;
        };
        let last = (!planted!(TombstoneIsEmpty)).then(|| Arc::clone(&entry.object));
        self.touched.insert(key.clone(), None);
        self.notify(Notification::Deleted(Deleted::Unknown {
            key: key.clone(),
            last,
        }));
    }

    fn remove_known(&mut self, key: &ObjectKey, arrival: &Arrival<T>) {
        let Ok(last) = &arrival.object else {
            // That it is gone can be told; how it looked at the end cannot.
            return self.delete_unknown(key);
        };
        self.good(key);
        self.touched.insert(key.clone(), None);
        self.notify(Notification::Deleted(Deleted::Known {
            key: key.clone(),
            last: Arc::clone(last),
        }));
    }

    /// The key has no version that is of no use.
    fn good(&mut self, key: &ObjectKey) {
        self.usable(key, Judgement::Good);
    }

    fn usable(&mut self, key: &ObjectKey, judgement: Judgement) {
        let judged = &mut self.applied.judged;
        if self.track_good || judged.contains_key(key) {
            judged.insert(key.clone(), judgement);
        }
    }

    fn put(&mut self, key: &ObjectKey, entry: Entry<T>, epoch: u32) {
        self.touched
            .insert(key.clone(), Some(Current { entry, epoch }));
    }

    fn notify(&mut self, notification: Notification<ObjectKey, T>) {
        self.applied.notices.push(Arc::new(notification));
    }

    fn current(&self, key: &ObjectKey) -> Option<(&Entry<T>, u32)> {
        match self.touched.get(key) {
            Some(state) if !planted!(StaleLookup) => state
                .as_ref()
                .map(|current| (&current.entry, current.epoch)),
            _ => self
                .store
                .get(key.as_str())
                .map(|entry| (entry, self.epochs.of(key))),
        }
    }
}
