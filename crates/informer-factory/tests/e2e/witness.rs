//! One handler's view: folds what it is told into a state, and judges every single notification.
//!
//! Rules: the grammar per key `(Add Update* Delete)*` (PR-2), continuity of the old object (PR-3),
//! one uid per life (PR-4), versions that grow (PR-5), initial flags (PR-8), one delete per life
//! (PR-13), the order of the watch on the in-order queue (PR-14), and a store that is never behind
//! its handlers (IN-3). A breach is collected, not panicked: a handler's panic would be caught.
//! That each rule can be broken, and is then found, is tested in `planted`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use informer_factory::{Added, Cause, Deleted, Notification, ObjectKey, StoreReader, Updated};
use kube_core::Resource;
use tokio::sync::watch;

use crate::collection::{Identity, Truth};

/// How many breaches are worth reading.
const ENOUGH: usize = 10;

/// Which rules hold for one handler of one informer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// PR-14: one source, the in-order queue, no coalescing.
    pub(crate) ordered: bool,
    /// PR-8 by position: with one source, all initial objects come before anything else.
    pub(crate) initial_first: bool,
    /// PR-13 by uid: false where an object may leave a selection and come back.
    pub(crate) one_life_per_uid: bool,
}

/// What one handler has been told.
pub(crate) struct Witness<T> {
    name: String,
    reader: StoreReader<T>,
    fold: Mutex<Fold>,
    /// Counts the notifications.
    told: watch::Sender<u64>,
}

struct Fold {
    rules: Rules,
    live: HashMap<ObjectKey, Identity>,
    /// The last state of keys that ended.
    dead: HashMap<ObjectKey, Identity>,
    dead_uids: HashSet<String>,
    initial: BTreeMap<String, Identity>,
    /// Something that is not initial has been told.
    initial_over: bool,
    newest: u64,
    /// Since the last call of [`Witness::begin_chapter`].
    announced: BTreeSet<String>,
    tombstones: BTreeSet<String>,
    breaches: Vec<String>,
}

impl<T: Resource + Send + Sync + 'static> Witness<T> {
    pub(crate) fn new(name: String, rules: Rules, reader: StoreReader<T>) -> Arc<Self> {
        let fold = Fold {
            rules,
            live: HashMap::new(),
            dead: HashMap::new(),
            dead_uids: HashSet::new(),
            initial: BTreeMap::new(),
            initial_over: false,
            newest: 0,
            announced: BTreeSet::new(),
            tombstones: BTreeSet::new(),
            breaches: Vec::new(),
        };
        Arc::new(Self {
            name,
            reader,
            fold: Mutex::new(fold),
            told: watch::channel(0).0,
        })
    }

    /// Takes one notification.
    pub(crate) fn see(&self, notification: &Notification<ObjectKey, T>) {
        let key = notification.key();
        let stored = self.reader.get_entry(key.as_str());
        let stored = stored
            .map(|entry| Identity::from_parts(&entry.uid.to_string(), &entry.version.to_string()));
        self.with(|fold| {
            fold.announced.insert(key.to_string());
            match notification {
                Notification::Added(Added {
                    object, initial, ..
                }) => fold.added(key, Identity::of(&**object), *initial),
                Notification::Updated(Updated {
                    old, new, cause, ..
                }) => fold.updated(key, &Identity::of(&**old), Identity::of(&**new), *cause),
                Notification::Deleted(deleted) => fold.deleted(deleted),
            }
            fold.compare_with_store(key, stored.as_ref());
        });
        self.told.send_modify(|count| *count += 1);
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// How many notifications it has been told.
    pub(crate) fn told(&self) -> u64 {
        *self.told.borrow()
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.told.subscribe()
    }

    /// The fold of everything told, or the first differences from what it should be.
    pub(crate) fn compare(&self, truth: &Truth) -> Result<(), String> {
        self.with(|fold| {
            let live = fold.live.iter();
            let live = live.map(|(key, identity)| (key.to_string(), identity.clone()));
            truth.compare(&live.collect())
        })
    }

    /// The rules that were broken: which, for which key, and how.
    pub(crate) fn breaches(&self) -> Vec<String> {
        self.with(|fold| fold.breaches.clone())
    }

    /// The objects that were announced as initial (PR-8).
    pub(crate) fn initial(&self) -> BTreeMap<String, Identity> {
        self.with(|fold| fold.initial.clone())
    }

    /// Forgets which keys were announced and which ended unseen.
    pub(crate) fn begin_chapter(&self) {
        self.with(|fold| {
            fold.announced.clear();
            fold.tombstones.clear();
        });
    }

    /// From here on a relist may come, which follows the server's order of keys, not of versions.
    pub(crate) fn expect_relists(&self) {
        self.with(|fold| fold.rules.ordered = false);
    }

    /// The keys of which anything was told in this chapter.
    pub(crate) fn announced(&self) -> BTreeSet<String> {
        self.with(|fold| fold.announced.clone())
    }

    /// The keys that ended in this chapter without anybody having seen it.
    pub(crate) fn tombstones(&self) -> BTreeSet<String> {
        self.with(|fold| fold.tombstones.clone())
    }

    fn with<R>(&self, look: impl FnOnce(&mut Fold) -> R) -> R {
        look(&mut self.fold.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Fold {
    fn added(&mut self, key: &ObjectKey, new: Identity, initial: bool) {
        if let Some(was) = self.live.get(key).cloned() {
            self.breach("PR-2", key, &format!("added as {new} while alive as {was}"));
        }
        if let Some(last) = self.dead.get(key).cloned()
            && last.version >= new.version
        {
            self.breach(
                "PR-5",
                key,
                &format!("added as {new} after it ended as {last}"),
            );
        }
        if self.rules.one_life_per_uid && self.dead_uids.contains(&new.uid) {
            self.breach("PR-13", key, &format!("{new} lives a second time"));
        }
        if initial {
            if self.initial_over && self.rules.initial_first {
                self.breach("PR-8", key, &format!("{new} is initial, after news"));
            }
            self.initial.insert(key.to_string(), new.clone());
        } else {
            self.news(key, &new);
        }
        self.live.insert(key.clone(), new);
    }

    fn updated(&mut self, key: &ObjectKey, old: &Identity, new: Identity, cause: Cause) {
        match self.live.get(key).cloned() {
            None => self.breach("PR-2", key, &format!("updated to {new} while not alive")),
            Some(told) if told != *old => {
                self.breach(
                    "PR-3",
                    key,
                    &format!("old is {old}, told before was {told}"),
                );
            }
            Some(_) => {}
        }
        if old.uid != new.uid {
            self.breach("PR-4", key, &format!("{old} became {new}"));
        }
        if new.version <= old.version {
            self.breach("PR-5", key, &format!("{old} became {new} ({cause:?})"));
        }
        self.news(key, &new);
        self.live.insert(key.clone(), new);
    }

    fn deleted<T: Resource>(&mut self, deleted: &Deleted<ObjectKey, T>) {
        let key = deleted.key();
        let Some(told) = self.live.remove(key) else {
            self.breach("PR-2", key, "deleted while not alive");
            return;
        };
        let end = deleted.last().map(|last| Identity::of(&**last));
        match (deleted, &end) {
            (Deleted::Known { .. }, Some(end)) => {
                if end.uid != told.uid {
                    self.breach("PR-4", key, &format!("{told} ended as {end}"));
                }
                if end.version < told.version {
                    self.breach("PR-5", key, &format!("{told} ended as {end}"));
                }
                self.news(key, end);
            }
            (Deleted::Unknown { .. }, end) => {
                if end.as_ref() != Some(&told) {
                    let text = format!("the tombstone holds {end:?}, told before was {told}");
                    self.breach("PR-3", key, &text);
                }
                self.tombstones.insert(key.to_string());
                self.initial_over = true;
            }
            (Deleted::MovedAway { .. }, _) => {
                self.breach("PR-13", key, "moved away, and nothing is sharded");
            }
            (Deleted::Known { .. }, None) => unreachable!("a known end has a final state"),
        }
        let end = end.unwrap_or(told);
        self.dead_uids.insert(end.uid.clone());
        self.dead.insert(key.clone(), end);
    }

    /// IN-3: what is told is in the store, or the store is newer. Of what it has lost since, the
    /// end will be told, or the fold and the store end up different.
    fn compare_with_store(&mut self, key: &ObjectKey, stored: Option<&Identity>) {
        let told = self.live.get(key);
        if let (Some(told), Some(stored)) = (told, stored)
            && stored.version < told.version
        {
            let text = format!("told {told} while the store has {stored}");
            self.breach("IN-3", key, &text);
        }
    }

    /// Something that is not initial; in the order of the watch where that is promised.
    fn news(&mut self, key: &ObjectKey, new: &Identity) {
        self.initial_over = true;
        if self.rules.ordered && new.version < self.newest {
            let text = format!("{new} was told after version {}", self.newest);
            self.breach("PR-14", key, &text);
        }
        self.newest = self.newest.max(new.version);
    }

    fn breach(&mut self, rule: &str, key: &ObjectKey, text: &str) {
        if self.breaches.len() < ENOUGH {
            self.breaches.push(format!("{rule}: {key}: {text}"));
        }
    }
}
