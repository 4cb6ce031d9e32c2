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
//! - An object on which an index function panics is refused: its last good version stays, unless that
//!   was another life (IN-7, STX-10).
//!
//! Nothing here blocks, allocates a task or reads a clock. Proved against a naive model in `proof`, and
//! through the whole path in `tests/bad_input`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use informer_deltafifo::{Delta, Deltas, Final, Work};
use informer_processor::{Cause, Deleted, Notification};
use informer_store::{Batch, Entry, ObjectKey, Scope, Snapshot};

use crate::arrival::{Arrival, is_older};

/// A notification as it is shared by all listeners.
pub(crate) type Notice<T> = Arc<Notification<ObjectKey, T>>;

/// What one lease of the queue does to the store and to the listeners.
pub(crate) struct Applied<T> {
    /// The mutations, to be committed as one visible step.
    pub(crate) batch: Batch<T>,
    /// What to tell, in order.
    pub(crate) notices: Vec<Notice<T>>,
    /// Events that were dropped since the store is newer (FM-37) or knows nothing of them (FM-47).
    pub(crate) dropped: u64,
    /// The epoch of the store after the commit.
    pub(crate) epoch: u32,
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
    /// The epoch of what the store holds.
    store_epoch: u32,
    /// The epoch of the newest arrival seen.
    epoch: u32,
    initial: bool,
    /// Keys whose objects the store cannot take.
    refused: &'a BTreeSet<ObjectKey>,
    /// Keys this lease has touched already; `None` is a key it removed.
    touched: HashMap<ObjectKey, Option<Current<T>>>,
    notices: Vec<Notice<T>>,
    dropped: u64,
}

impl<'a, T> Fold<'a, T> {
    /// A fold over `store`, for works that came from the source of `scope`.
    pub(crate) fn new(
        store: &'a Snapshot<T>,
        scope: &'a Scope,
        store_epoch: u32,
        initial: bool,
        refused: &'a BTreeSet<ObjectKey>,
    ) -> Self {
        Self {
            store,
            scope,
            store_epoch,
            epoch: store_epoch,
            initial,
            refused,
            touched: HashMap::new(),
            notices: Vec::new(),
            dropped: 0,
        }
    }

    /// Applies one work of the queue.
    pub(crate) fn work(&mut self, work: &Work<ObjectKey, Arrival<T>>) {
        match work {
            Work::Key { key, deltas } => self.key(key, deltas),
            Work::Replace { items } => self.replace(items),
            // The facade walks a snapshot for resync (design 6.9) and never asks the queue.
            Work::Resync => {}
        }
    }

    /// The result: one batch, and the notices in order.
    pub(crate) fn finish(self) -> Applied<T> {
        let mut batch = Batch::new();
        for (key, state) in self.touched {
            match state {
                Some(current) => batch.upsert(key, current.entry),
                None => batch.delete(key),
            }
        }
        let (notices, dropped, epoch) = (self.notices, self.dropped, self.epoch);
        Applied {
            batch,
            notices,
            dropped,
            epoch,
        }
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
                Delta::Deleted(Final::Unknown(_)) => self.delete_unknown(key),
            }
        }
    }

    /// A whole collection: first what it leaves out, then its items in the server's order (PD-06).
    fn replace(&mut self, items: &[(ObjectKey, Arrival<T>)]) {
        let kept: std::collections::HashSet<&ObjectKey> =
            items.iter().map(|(key, _)| key).collect();
        let gone: Vec<ObjectKey> = self
            .known_keys()
            .into_iter()
            .filter(|key| !kept.contains(key))
            .collect();
        for key in gone.iter().filter(|_| !planted!(ReplaceForgetsDeletes)) {
            self.delete_unknown(key);
        }
        for (key, arrival) in items {
            self.upsert(key, arrival, Cause::Relist);
        }
    }

    /// The keys of our source as they are now, in key order.
    fn known_keys(&self) -> Vec<ObjectKey> {
        let in_scope = |key: &ObjectKey| match self.scope {
            Scope::All => true,
            Scope::Namespace(namespace) => key.namespace() == Some(namespace),
        };
        let stored: Box<dyn Iterator<Item = &ObjectKey>> = match self.scope {
            _ if planted!(ReplaceIgnoresScope) => Box::new(self.store.iter().map(|(key, _)| key)),
            Scope::All => Box::new(self.store.iter().map(|(key, _)| key)),
            Scope::Namespace(namespace) => {
                Box::new(self.store.namespace(namespace).map(|(key, _)| key))
            }
        };
        let mut keys: Vec<ObjectKey> = stored
            .filter(|key| !self.touched.contains_key(*key))
            .cloned()
            .collect();
        let touched = self
            .touched
            .iter()
            .filter(|(key, state)| state.is_some() && in_scope(key));
        keys.extend(touched.map(|(key, _)| key.clone()));
        keys.sort_unstable();
        keys
    }

    fn upsert(&mut self, key: &ObjectKey, arrival: &Arrival<T>, cause: Cause) {
        self.epoch = self.epoch.max(arrival.epoch);
        let verdict = match self.current(key) {
            None => Verdict::Add,
            Some((entry, epoch)) => judge(entry, epoch, arrival, cause),
        };
        let refused = self.refused.contains(key) && !planted!(RefusedAnnounced);
        match verdict {
            Verdict::Drop => self.dropped += 1,
            Verdict::Reborn if refused => self.delete_unknown(key),
            Verdict::Add | Verdict::Update(_) if refused => self.dropped += 1,
            Verdict::Keep => self.keep(key, arrival),
            Verdict::Add => {
                self.put(key, arrival);
                self.announce_added(key, arrival);
            }
            Verdict::Update(old) => {
                self.put(key, arrival);
                let new = Arc::clone(&arrival.entry.object);
                self.notify(Notification::Updated {
                    key: key.clone(),
                    old,
                    new,
                    cause,
                });
            }
            Verdict::Reborn => {
                self.delete_unknown(key);
                self.put(key, arrival);
                self.announce_added(key, arrival);
            }
        }
    }

    /// A deletion that the watch saw. The uid says whose life ended (design 6.10).
    fn delete_observed(&mut self, key: &ObjectKey, arrival: &Arrival<T>) {
        self.epoch = self.epoch.max(arrival.epoch);
        let Some((entry, epoch)) = self.current(key) else {
            self.dropped += 1;
            if planted!(StrangerAnnounced) {
                self.remove_known(key, arrival);
            }
            return;
        };
        let older = epoch == arrival.epoch && is_older(&arrival.entry.version, &entry.version);
        match same_life(entry, &arrival.entry) {
            Life::Other if planted!(OldLifeKills) => self.delete_unknown(key),
            Life::Same => self.remove_known(key, arrival),
            Life::Unknown | Life::Other if older => self.dropped += 1,
            Life::Unknown => self.remove_known(key, arrival),
            Life::Other => self.delete_unknown(key),
        }
    }

    /// A deletion that nobody saw; the last state known is the one the handlers had (PR-3).
    fn delete_unknown(&mut self, key: &ObjectKey) {
        let Some((entry, _)) = self.current(key) else {
            self.dropped += 1;
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
        self.touched.insert(key.clone(), None);
        let last = Arc::clone(&arrival.entry.object);
        self.notify(Notification::Deleted(Deleted::Known {
            key: key.clone(),
            last,
        }));
    }

    /// The object is what we have: its `Arc` stays, only its epoch may have to move on.
    fn keep(&mut self, key: &ObjectKey, arrival: &Arrival<T>) {
        if let Some(Some(current)) = self.touched.get_mut(key) {
            current.epoch = arrival.epoch;
        }
    }

    fn put(&mut self, key: &ObjectKey, arrival: &Arrival<T>) {
        let current = Current {
            entry: arrival.entry.clone(),
            epoch: arrival.epoch,
        };
        self.touched.insert(key.clone(), Some(current));
    }

    fn announce_added(&mut self, key: &ObjectKey, arrival: &Arrival<T>) {
        let initial = self.initial && !planted!(InitialFlagLost);
        let object = Arc::clone(&arrival.entry.object);
        self.notify(Notification::Added {
            key: key.clone(),
            object,
            initial,
        });
    }

    fn notify(&mut self, notification: Notification<ObjectKey, T>) {
        self.notices.push(Arc::new(notification));
    }

    fn current(&self, key: &ObjectKey) -> Option<(&Entry<T>, u32)> {
        match self.touched.get(key) {
            Some(state) if !planted!(StaleLookup) => state
                .as_ref()
                .map(|current| (&current.entry, current.epoch)),
            _ => self
                .store
                .get(key.as_str())
                .map(|entry| (entry, self.store_epoch)),
        }
    }
}

/// What is to become of an object that arrived under a key the store holds.
enum Verdict<T> {
    Drop,
    Keep,
    Add,
    Update(Arc<T>),
    Reborn,
}

/// Whether two entries are versions of one object.
#[derive(PartialEq, Eq)]
enum Life {
    Same,
    Other,
    Unknown,
}

fn same_life<T>(a: &Entry<T>, b: &Entry<T>) -> Life {
    match (&*a.uid, &*b.uid) {
        ("", _) | (_, "") => Life::Unknown,
        (x, y) if x == y => Life::Same,
        _ => Life::Other,
    }
}

fn judge<T>(stored: &Entry<T>, epoch: u32, arrival: &Arrival<T>, cause: Cause) -> Verdict<T> {
    let update = || Verdict::Update(Arc::clone(&stored.object));
    let same_epoch = epoch == arrival.epoch || planted!(EpochIgnored);
    let older =
        !planted!(OlderApplied) && same_epoch && is_older(&arrival.entry.version, &stored.version);
    let life = same_life(stored, &arrival.entry);
    match cause {
        // A resync repeats what is there; it never brings anything back to life or back in time.
        Cause::Resync if life == Life::Other || older => Verdict::Drop,
        Cause::Resync => update(),
        Cause::Watch | Cause::Relist if older => Verdict::Drop,
        Cause::Watch | Cause::Relist => match life {
            Life::Other if !planted!(RebornAsUpdate) => Verdict::Reborn,
            // Across a rewind an equal version may stand for another state (RFX-15).
            _ if same_epoch && same_version(stored, arrival) && !planted!(UnchangedAnnounced) => {
                Verdict::Keep
            }
            _ => update(),
        },
    }
}

/// Equal and known; two objects without a version cannot be told apart and count as changed.
fn same_version<T>(stored: &Entry<T>, arrival: &Arrival<T>) -> bool {
    !stored.version.is_empty() && stored.version == arrival.entry.version
}
