//! Joining a running processor without a gap and without a repeat.
//!
//! Three steps, none of which makes the sender wait: register (from here everything is held, with
//! its sequence), take a snapshot, begin with the snapshot's sequence. What is held and not newer
//! is dropped, and so is what comes later and is not newer: a commit that the snapshot shows may
//! be distributed after `begin`.
//!
//! Held notifications are not merged: an entry made of one that the snapshot shows and one that it
//! does not could neither be dropped nor delivered.

// PR-7, FM-69

use std::fmt;
use std::sync::Arc;

use crate::listener::Listener;
use crate::listener::replay::Replay;
use crate::notification::Key;
use crate::processor::registration::Registration;

/// A listener that is registered and holds what happens; nothing is delivered yet.
///
/// Take a snapshot after this was made, and call [`begin`](Joining::begin) with it, soon: whatever
/// happens until then is held in memory. Dropped without that, the listener is removed.
#[must_use = "a listener delivers nothing until `begin`, and is removed when this is dropped"]
pub struct Joining<K: Key, T: Send + Sync + 'static> {
    listener: Option<Arc<Listener<K, T>>>,
}

impl<K: Key, T: Send + Sync + 'static> Joining<K, T> {
    pub(crate) fn new(listener: Arc<Listener<K, T>>) -> Self {
        Self {
            listener: Some(listener),
        }
    }

    /// Starts delivery: the items of `initial`, pulled one by one, then every notification whose
    /// sequence is greater than `sequence`, each once.
    ///
    /// `initial` shows the state after all commits up to `sequence` and none beyond, as
    /// [`Notification::Added`](crate::Notification::Added) with `initial: true`. Each commit has to
    /// be distributed after it has become visible to snapshots.
    // PR-7, SI-09
    pub fn begin(mut self, sequence: u64, initial: Replay<K, T>) -> Registration {
        let listener = self
            .listener
            .take()
            .expect("a joining listener begins once");
        listener.begin(sequence, initial);
        Registration::new(listener)
    }
}

impl<K: Key, T: Send + Sync + 'static> Drop for Joining<K, T> {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.take() {
            listener.remove();
        }
    }
}

impl<K: Key, T: Send + Sync + 'static> fmt::Debug for Joining<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.listener.as_ref().map(|listener| &listener.name);
        f.debug_struct("Joining")
            .field("name", &name)
            .finish_non_exhaustive()
    }
}
