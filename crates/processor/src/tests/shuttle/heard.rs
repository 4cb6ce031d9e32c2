//! What a handler was told, judged while it is told and at the end.
//!
//! A handler cannot fail a test: its panics are caught. It writes down what is wrong.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::world::{Key, Object};
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::block_on;
use crate::{Added, Deleted, Handler, Notification, Updated};

pub(super) struct Heard {
    /// Two accesses to it per callback, so that a schedule can switch while one runs.
    running: AtomicBool,
    /// No callback may begin any more.
    silent: AtomicBool,
    /// No plain lock is held at a switch, so that none can stop the schedule.
    story: Mutex<Story>,
    count: watch::Sender<usize>,
}

#[derive(Default)]
struct Story {
    fold: BTreeMap<Key, Object>,
    initial: usize,
    faults: Vec<String>,
    dropped: bool,
}

impl Heard {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            running: AtomicBool::new(false),
            silent: AtomicBool::new(false),
            story: Mutex::default(),
            count: watch::Sender::new(0),
        })
    }

    /// From here on no callback may begin.
    pub(super) fn expect_silence(&self) {
        self.silent.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.load(Ordering::SeqCst)
    }

    /// Waits until so many callbacks have returned.
    pub(super) fn wait_for(&self, count: usize) {
        let mut counts = self.count.subscribe();
        block_on(async { counts.wait_for(|seen| *seen >= count).await.map(drop) })
            .expect("the sender is in our hands");
    }

    pub(super) fn count(&self) -> usize {
        *self.count.borrow()
    }

    pub(super) fn initial(&self) -> usize {
        self.story().initial
    }

    pub(super) fn is_dropped(&self) -> bool {
        self.story().dropped
    }

    /// Nothing was wrong so far.
    pub(super) fn check(&self) {
        let faults = self.story().faults.clone();
        assert!(faults.is_empty(), "{faults:?}");
    }

    /// Whether the handler has received this state of the object last.
    pub(super) fn has_received(&self, key: Key, object: Object) -> bool {
        self.story().fold.get(&key) == Some(&object)
    }

    /// PR-6: what was told adds up to `state`.
    pub(super) fn check_final(&self, state: &BTreeMap<Key, Object>) {
        self.check();
        assert_eq!(&self.story().fold, state, "PR-6");
    }

    fn story(&self) -> MutexGuard<'_, Story> {
        self.story.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) {
        let overlaps = self.running.swap(true, Ordering::SeqCst);
        let late = self.silent.load(Ordering::SeqCst);
        let mut story = self.story();
        if overlaps {
            story.faults.push("PR-1: callbacks overlap".to_owned());
        }
        if late {
            story.faults.push("PR-11: a callback began".to_owned());
        }
    }

    fn end(&self) {
        self.running.store(false, Ordering::SeqCst);
        self.count.send_modify(|count| *count += 1);
    }
}

impl Story {
    /// PR-3, PR-7: each change follows on what was told before, and nothing is told twice.
    fn hear(&mut self, news: &Notification<Key, Object>) {
        let (key, before, after) = match news {
            Notification::Added(Added {
                key,
                object,
                initial,
                ..
            }) => {
                self.initial += usize::from(*initial);
                (*key, None, Some(**object))
            }
            Notification::Updated(Updated { key, old, new, .. }) => {
                (*key, Some(**old), Some(**new))
            }
            Notification::Deleted(Deleted::Known { key, last }) => (*key, Some(**last), None),
            other => return self.faults.push(format!("{other:?} was never sent")),
        };
        // Who merges tells of the last state with the end, not of those between.
        let told = self.fold.get(&key).copied();
        let follows = match after {
            Some(_) => told == before,
            None => told.is_some() && told <= before,
        };
        if !follows {
            let fold = &self.fold;
            self.faults
                .push(format!("PR-3, PR-7: {news:?} on {fold:?}"));
        }
        match after {
            Some(object) => self.fold.insert(key, object),
            None => self.fold.remove(&key),
        };
    }
}

/// The handler.
pub(super) struct Hearing(pub(super) Arc<Heard>);

impl Handler<Key, Object> for Hearing {
    fn on_notification(&mut self, news: &Notification<Key, Object>) {
        self.0.begin();
        self.0.story().hear(news);
        self.0.end();
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.0.story().dropped = true;
    }
}
