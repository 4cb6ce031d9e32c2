//! Delta -> store mutation -> notification: the heart of the informer, as a pure function.
//!
//! Membership of the store, not the type of the watch event, decides add or update. What is
//! decided here and nowhere else:
//!
//! - An unchanged object is not announced, however often it is received.
//! - Within an epoch no object goes back to an older version.
//! - A new uid under an old name means that the object was recreated: one commit,
//!   `Deleted::Unknown` and then `Added`.
//! - The deletion of an object that is not stored is dropped.
//! - An unusable version, which cannot be decoded or on which an index function panics, leaves the
//!   last good one stored, unless that has another uid.
//!
//! Nothing here blocks, allocates a task or reads a clock. Tested against a naive model in `tests`,
//! and judged through the whole path in `tests/bad_input`.

// PD-01, FM-37, STX-7, PR-5, FM-45, PR-4, FM-47, PR-2, IN-7, FM-53, STX-10

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use derive_where::derive_where;
use indexmap::IndexMap;
use informer_deltafifo::{Delta, Deltas, Final, Item};
use informer_object::ResourceVersion;
use informer_processor::{Added, Cause, Deleted, Notification, Updated};
use informer_reflector::DecodeError;
use informer_store::{Batch, Entry, ObjectKey, Scope, Snapshot};

use crate::applying::epochs::Epochs;
use crate::applying::listed::are_distinct;
use crate::applying::received_item::ReceivedItem;
use crate::applying::source_entries;
use crate::applying::verdict::{Incarnation, Judgement, Refused, Verdict, incarnation, judge};

/// A notification, shared by all handlers.
#[doc(alias("Apply", "Init", "InitApply", "InitDone"))]
pub type Event<T> = Arc<Notification<ObjectKey, T>>;

/// The effect of one lease of the queue on the store and on the listeners.
#[derive_where(Default)]
pub(crate) struct Applied<T> {
    /// The mutations, to be committed as one visible step.
    pub(crate) batch: Batch<T>,
    /// The notifications, in order, but for those that a replay of the commit delivers.
    pub(crate) notifications: Vec<Event<T>>,
    /// The number of notifications that a replay of the commit delivers.
    pub(crate) replayed: u64,
    /// Events that were dropped since the store is newer or knows nothing of them.
    // FM-37, FM-47
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

/// Folds the items of one lease over a snapshot of the store.
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
    /// Only counts notifications, because a replay of the commit delivers them.
    replayed: bool,
    /// Puts objects into the batch at once, since no key occurs twice and none is stored.
    all_new: bool,
}

impl<'a, T> Fold<'a, T> {
    /// A fold over `store`, for items that came from the source of `scope`.
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
            replayed: false,
            all_new: false,
        }
    }

    /// Applies the items of a lease. `replayed` says that they are the first list, for an empty
    /// store, and that a replay of the commit delivers it.
    pub(crate) fn lease(&mut self, items: &[&Item<ObjectKey, ReceivedItem<T>>], replayed: bool) {
        self.replayed = replayed;
        self.all_new = replayed && are_distinct(items);
        match self.all_new {
            true => self.applied.batch = Batch::with_capacity(items.len() + 1),
            false => self.touched.reserve(items.len()),
        }
        if !replayed {
            self.applied.notifications.reserve(items.len());
        }
        items.iter().for_each(|item| self.item(item));
    }

    /// Applies one item of the queue.
    // The facade replays a snapshot for a resync and never asks the queue.
    pub(crate) fn item(&mut self, item: &Item<ObjectKey, ReceivedItem<T>>) {
        match item {
            Item::Key { key, deltas } => self.key(key, deltas),
            Item::Replace { items } => self.replace(items),
            // A resync iterates over a snapshot of the store, never over the queue.
            Item::Resync => {}
        }
    }

    /// The result: one batch, and the notifications in order.
    pub(crate) fn finish(self) -> Applied<T> {
        let mut applied = self.applied;
        if !self.all_new {
            applied.batch = Batch::with_capacity(self.touched.len() + 1);
        }
        applied.epochs = self.epochs.clone();
        for (key, state) in self.touched {
            match state {
                Some(current) => {
                    applied.epochs.put(&key, current.epoch);
                    applied.batch.upsert(key, current.entry);
                }
                None => {
                    applied.epochs.remove(&key);
                    applied.batch.remove(key);
                }
            }
        }
        applied.epochs.advance(self.epoch);
        applied
    }

    fn key(&mut self, key: &ObjectKey, deltas: &Deltas<ReceivedItem<T>>) {
        for delta in deltas.iter() {
            match delta {
                Delta::Added(received) | Delta::Updated(received) => {
                    self.upsert(key, received, Cause::Watch);
                }
                Delta::Replaced(received) => self.upsert(key, received, Cause::Relist),
                Delta::Sync(received) => self.upsert(key, received, Cause::Resync),
                Delta::Deleted(Final::Observed(received)) => self.delete_observed(key, received),
                Delta::Deleted(Final::Unknown(last)) => {
                    // Only a relist says so: what it leaves out belongs to its epoch.
                    let epoch = last.as_ref().map_or(0, ReceivedItem::epoch);
                    self.epoch = self.epoch.max(epoch);
                    self.delete_unknown(key);
                }
            }
        }
    }

    /// A whole collection: first what it leaves out, then its items in the server's order.
    // PD-06
    fn replace(&mut self, items: &[(ObjectKey, ReceivedItem<T>)]) {
        let kept: HashSet<&ObjectKey> = items.iter().map(|(key, _)| key).collect();
        let mut gone = self.known_keys();
        gone.retain(|key| !kept.contains(key) && !planted!(ReplaceForgetsDeletes));
        for key in &gone {
            self.delete_unknown(key);
        }
        for (key, received) in items {
            self.upsert(key, received, Cause::Relist);
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

    fn upsert(&mut self, key: &ObjectKey, received: &ReceivedItem<T>, cause: Cause) {
        if cause == Cause::Relist {
            // Only a relist takes the store into a new epoch: it names every object there is.
            self.epoch = self.epoch.max(received.epoch());
        }
        let object = match received.object() {
            Ok(object) => object,
            Err(error) => return self.unusable(key, received, error),
        };
        let verdict = match self.current(key) {
            None => Verdict::Add,
            Some((entry, epoch)) => judge(entry, epoch, received, cause),
        };
        if self.refused.contains_key(key) && !planted!(RefusedAnnounced) {
            return self.refuse(key, received, &verdict);
        }
        match verdict {
            Verdict::Drop => self.applied.dropped += 1,
            Verdict::Keep => {
                self.usable(key, Judgement::Kept);
                // The stored `Arc` stays; only the epoch may have to move on.
                if let Some(Some(current)) = self.touched.get_mut(key) {
                    current.epoch = received.epoch();
                }
            }
            Verdict::Add => self.add(key, received, object, cause),
            Verdict::Update(old) => {
                self.good(key);
                self.put(key, received.entry(object), received.epoch());
                let new = Arc::clone(object);
                let updated = Updated::new(key.clone(), old, new, cause);
                self.notify(Notification::Updated(updated));
            }
            Verdict::Recreated => {
                self.delete_unknown(key);
                self.add(key, received, object, cause);
            }
        }
    }

    /// Adds an object. It is initial if the first list brought it: what the watch brought meanwhile
    /// is new to the handlers.
    // PR-8
    fn add(&mut self, key: &ObjectKey, received: &ReceivedItem<T>, object: &Arc<T>, cause: Cause) {
        self.good(key);
        self.put(key, received.entry(object), received.epoch());
        let initial = self.initial && cause == Cause::Relist && !planted!(InitialFlagLost);
        self.notify(Notification::Added(
            Added::new(key.clone(), Arc::clone(object)).initial(initial),
        ));
    }

    /// Refuses a version that the store cannot take: the last good one stays, unless that has
    /// another uid.
    fn refuse(&mut self, key: &ObjectKey, received: &ReceivedItem<T>, verdict: &Verdict<T>) {
        match verdict {
            Verdict::Recreated => self.delete_unknown(key),
            Verdict::Keep => {}
            Verdict::Update(_) => self.keep_stored(key, received),
            Verdict::Drop | Verdict::Add => self.applied.dropped += 1,
        }
    }

    /// A version that cannot be decoded; the same holds for it.
    fn unusable(&mut self, key: &ObjectKey, received: &ReceivedItem<T>, error: &DecodeError) {
        if let Some((entry, epoch)) = self.current(key) {
            if epoch == received.epoch() && received.version.is_older_than(&entry.version) {
                self.applied.dropped += 1;
                return;
            }
            match incarnation(entry, received) {
                Incarnation::Other => self.delete_unknown(key),
                Incarnation::Same | Incarnation::Unknown => self.keep_stored(key, received),
            }
        }
        let judgement = Judgement::Unusable {
            version: received.version.clone(),
            error: error.clone(),
        };
        if !planted!(UnusableIsForgotten) {
            self.applied.judged.insert(key.clone(), judgement);
        }
    }

    /// Keeps the last good version in place of an unusable one. If it is of an earlier epoch, its
    /// version is unset, so that nothing received later counts as older.
    fn keep_stored(&mut self, key: &ObjectKey, received: &ReceivedItem<T>) {
        self.applied.dropped += 1;
        if let Some((entry, epoch)) = self.current(key)
            && epoch != received.epoch()
        {
            let mut entry = entry.clone();
            entry.version = ResourceVersion::unset();
            self.put(key, entry, received.epoch());
        }
    }

    /// Applies a deletion that the watch reported. The uid identifies the object.
    fn delete_observed(&mut self, key: &ObjectKey, received: &ReceivedItem<T>) {
        let Some((entry, epoch)) = self.current(key) else {
            self.applied.dropped += 1;
            self.good(key);
            if planted!(StrangerAnnounced) {
                self.remove_known(key, received);
            }
            return;
        };
        let older = epoch == received.epoch() && received.version.is_older_than(&entry.version);
        match incarnation(entry, received) {
            Incarnation::Other if planted!(OldLifeKills) => self.delete_unknown(key),
            Incarnation::Same => self.remove_known(key, received),
            Incarnation::Unknown | Incarnation::Other if older => self.applied.dropped += 1,
            Incarnation::Unknown => self.remove_known(key, received),
            Incarnation::Other => self.delete_unknown(key),
        }
    }

    /// Applies a deletion that no event reported; the last known state is the stored one.
    // PR-3
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

    fn remove_known(&mut self, key: &ObjectKey, received: &ReceivedItem<T>) {
        let Ok(last) = received.object() else {
            // The deletion is certain, but the final state cannot be decoded.
            return self.delete_unknown(key);
        };
        self.good(key);
        self.touched.insert(key.clone(), None);
        self.notify(Notification::Deleted(Deleted::Known {
            key: key.clone(),
            last: Arc::clone(last),
        }));
    }

    /// Records that the key has no unusable version.
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
        match self.all_new {
            // All are of the epoch that a relist ends in.
            true => self.applied.batch.upsert(key.clone(), entry),
            false => {
                let current = Some(Current { entry, epoch });
                self.touched.insert(key.clone(), current);
            }
        }
    }

    fn notify(&mut self, notification: Notification<ObjectKey, T>) {
        match self.replayed {
            true => self.applied.replayed += 1,
            false => self.applied.notifications.push(Arc::new(notification)),
        }
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
