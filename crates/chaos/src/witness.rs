//! One handler's view: folds what it is told into a state, and judges every notification.
//!
//! Rules: the grammar per key `(Add Update* Delete)*` (PR-2), continuity of the old object (PR-3),
//! one uid per life (PR-4), versions that grow within an epoch (PR-5). That the fold is complete
//! (PR-6) is seen when it is compared with the server. A breach is collected, not panicked: a
//! handler's panic would be caught.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use informer_factory::{Added, AsyncHandler, Handler, Notification, ObjectKey, Updated};
use kube_core::DynamicObject;
use tokio::sync::watch;

use crate::collection::{Identity, Objects};

/// How many breaches are worth reading.
const ENOUGH: usize = 10;

/// What one handler has been told.
pub(crate) struct Witness {
    pub(crate) name: &'static str,
    fold: Mutex<Fold>,
    /// The history is about to be rewound: versions may go back.
    rewinding: AtomicBool,
    told: watch::Sender<u64>,
}

#[derive(Default)]
struct Fold {
    live: HashMap<String, Identity>,
    /// The last version of keys that ended.
    dead: HashMap<String, u64>,
    breaches: Vec<String>,
}

impl Witness {
    pub(crate) fn new(name: &'static str) -> Arc<Self> {
        Arc::new(Self {
            name,
            fold: Mutex::default(),
            rewinding: AtomicBool::new(false),
            told: watch::channel(0).0,
        })
    }

    /// Takes one notification.
    pub(crate) fn see(&self, notification: &Notification<ObjectKey, DynamicObject>) {
        let key = notification.key().to_string();
        let rewinding = self.rewinding.load(Ordering::SeqCst);
        {
            let mut fold = self.lock();
            match notification {
                Notification::Added(Added { object, .. }) => {
                    fold.added(&key, Identity::of(&**object), rewinding);
                }
                Notification::Updated(Updated { old, new, .. }) => {
                    let (old, new) = (Identity::of(&**old), Identity::of(&**new));
                    fold.updated(&key, &old, new, rewinding);
                }
                Notification::Deleted(deleted) => {
                    let last = deleted.last().map(|last| Identity::of(&**last));
                    fold.deleted(&key, last, rewinding);
                }
            }
        }
        self.told.send_modify(|count| *count += 1);
    }

    /// From now on versions may go back.
    pub(crate) fn expect_rewind(&self) {
        self.rewinding.store(true, Ordering::SeqCst);
    }

    /// From now on they may not. Versions of before are of another history.
    pub(crate) fn end_rewind(&self) {
        if self.rewinding.swap(false, Ordering::SeqCst) {
            self.lock().dead.clear();
        }
    }

    /// The fold of everything told.
    pub(crate) fn objects(&self) -> Objects {
        let fold = self.lock();
        let live = fold.live.iter();
        live.map(|(key, identity)| (key.clone(), identity.clone()))
            .collect()
    }

    /// The rules that were broken: which, for which key, and how.
    pub(crate) fn breaches(&self) -> Vec<String> {
        self.lock().breaches.clone()
    }

    /// Sees every further notification.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.told.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, Fold> {
        self.fold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fold {
    fn added(&mut self, key: &str, new: Identity, rewinding: bool) {
        if let Some(was) = self.live.get(key) {
            let text = format!("added as {new} while alive as {was}");
            self.breach("PR-2", key, &text);
        }
        let dead = self.dead.remove(key);
        if let Some(dead) = dead.filter(|dead| *dead >= new.version && !rewinding) {
            self.breach(
                "PR-5",
                key,
                &format!("added as {new} after it ended at {dead}"),
            );
        }
        self.live.insert(key.to_owned(), new);
    }

    fn updated(&mut self, key: &str, old: &Identity, new: Identity, rewinding: bool) {
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
        if new.version <= old.version && !rewinding {
            self.breach("PR-5", key, &format!("{old} became {new}"));
        }
        self.live.insert(key.to_owned(), new);
    }

    fn deleted(&mut self, key: &str, last: Option<Identity>, rewinding: bool) {
        let Some(told) = self.live.remove(key) else {
            self.breach("PR-2", key, "deleted while not alive");
            return;
        };
        let last = last.unwrap_or_else(|| told.clone());
        if last.uid != told.uid {
            self.breach("PR-4", key, &format!("{told} ended as {last}"));
        }
        if last.version < told.version && !rewinding {
            self.breach("PR-5", key, &format!("{told} ended as {last}"));
        }
        self.dead.insert(key.to_owned(), last.version);
    }

    fn breach(&mut self, rule: &str, key: &str, text: &str) {
        if self.breaches.len() < ENOUGH {
            self.breaches.push(format!("{rule}: {key}: {text}"));
        }
    }
}

/// Hears of everything, in the informer's own task.
pub(crate) struct Growing(pub(crate) Arc<Witness>);

impl Handler<ObjectKey, DynamicObject> for Growing {
    fn on_notification(&mut self, notification: &Notification<ObjectKey, DynamicObject>) {
        self.0.see(notification);
    }
}

/// How long the slow handler takes.
const SLOWNESS: Duration = Duration::from_millis(5);

/// Hears of the latest only where it does not keep up, which it does not during bursts.
pub(crate) struct Coalescing(pub(crate) Arc<Witness>);

impl AsyncHandler<ObjectKey, DynamicObject> for Coalescing {
    async fn on_notification(&mut self, notification: Arc<Notification<ObjectKey, DynamicObject>>) {
        tokio::time::sleep(SLOWNESS).await;
        self.0.see(&notification);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(uid: &str, version: u64) -> Identity {
        Identity {
            uid: uid.to_owned(),
            version,
        }
    }

    fn first_breach(story: impl FnOnce(&mut Fold)) -> String {
        let mut fold = Fold::default();
        story(&mut fold);
        fold.breaches.first().cloned().unwrap_or_default()
    }

    #[test]
    fn a_good_story_has_no_breach() {
        let breach = first_breach(|fold| {
            fold.added("k", identity("a", 1), false);
            fold.updated("k", &identity("a", 1), identity("a", 2), false);
            fold.deleted("k", Some(identity("a", 3)), false);
            fold.added("k", identity("b", 4), false);
            // The history is rewound.
            fold.updated("k", &identity("b", 4), identity("b", 2), true);
            fold.deleted("k", None, true);
            fold.added("k", identity("c", 1), true);
        });
        assert_eq!(breach, "");
    }

    #[test]
    fn every_rule_can_be_broken() {
        let alive = |fold: &mut Fold| fold.added("k", identity("a", 5), false);
        let again = first_breach(|fold| {
            alive(fold);
            alive(fold);
        });
        let unknown = first_breach(|fold| fold.deleted("k", None, false));
        let absent = first_breach(|fold| {
            fold.updated("k", &identity("a", 1), identity("a", 2), false);
        });
        for breach in [again, unknown, absent] {
            assert!(breach.starts_with("PR-2"), "{breach}");
        }
        let update = |old: Identity, new: Identity| {
            first_breach(|fold| {
                alive(fold);
                fold.updated("k", &old, new, false);
            })
        };
        assert!(update(identity("a", 4), identity("a", 6)).starts_with("PR-3"));
        assert!(update(identity("a", 5), identity("b", 6)).starts_with("PR-4"));
        assert!(update(identity("a", 5), identity("a", 5)).starts_with("PR-5"));
        let earlier = first_breach(|fold| {
            alive(fold);
            fold.deleted("k", Some(identity("a", 6)), false);
            fold.added("k", identity("b", 6), false);
        });
        assert!(earlier.starts_with("PR-5"), "{earlier}");
    }
}
