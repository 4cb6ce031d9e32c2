//! A handler that writes down what it hears, and short names for news.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::{Arc, Mutex};

use informer_processor::{Added, Cause, Deleted, Notification, Updated};

/// News of these tests.
pub(crate) type News = Notification<&'static str, u32>;

/// One callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Key, object, initial.
    Add(&'static str, u32, bool),
    /// Key, old, new, cause.
    Update(&'static str, u32, u32, Cause),
    /// Key, last, whether the final state is known.
    Delete(&'static str, Option<u32>, bool),
    /// Key, last.
    Move(&'static str, u32),
}

/// A notification as a plain value.
pub(crate) fn plain(notification: &News) -> Heard {
    match notification {
        Notification::Added(Added {
            key,
            object,
            initial,
            ..
        }) => Heard::Add(key, **object, *initial),
        Notification::Updated(Updated {
            key,
            old,
            new,
            cause,
            ..
        }) => Heard::Update(key, **old, **new, *cause),
        Notification::Deleted(Deleted::MovedAway { key, last }) => Heard::Move(key, **last),
        Notification::Deleted(deleted) => Heard::Delete(
            deleted.key(),
            deleted.last().map(|last| **last),
            matches!(deleted, Deleted::Known { .. }),
        ),
    }
}

/// Writes down what it hears; clones share the record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Recorder {
    /// An empty record.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds to the record.
    pub(crate) fn hear(&mut self, notification: &News) {
        self.heard
            .lock()
            .expect("no recorder panics")
            .push(plain(notification));
    }

    /// The record so far.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.heard.lock().expect("no recorder panics").clone()
    }
}

/// An object of the initial list.
pub(crate) fn initial(key: &'static str, object: u32) -> News {
    Notification::Added(Added::new(key, Arc::new(object)).initial(true))
}

/// A new object.
pub(crate) fn added(key: &'static str, object: u32) -> News {
    Notification::Added(Added::new(key, Arc::new(object)))
}

/// A changed object.
pub(crate) fn updated(key: &'static str, old: u32, new: u32) -> News {
    Notification::Updated(Updated::new(
        key,
        Arc::new(old),
        Arc::new(new),
        Cause::Watch,
    ))
}

/// A reminder.
pub(crate) fn reminder(key: &'static str, object: u32) -> News {
    let object = Arc::new(object);
    Notification::Updated(Updated::new(
        key,
        Arc::clone(&object),
        object,
        Cause::Resync,
    ))
}

/// A watched deletion.
pub(crate) fn deleted(key: &'static str, last: u32) -> News {
    Notification::Deleted(Deleted::Known {
        key,
        last: Arc::new(last),
    })
}

/// An object that left the shard.
pub(crate) fn moved_away(key: &'static str, last: u32) -> News {
    Notification::Deleted(Deleted::MovedAway {
        key,
        last: Arc::new(last),
    })
}
