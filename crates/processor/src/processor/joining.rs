//! Joining a running processor without a gap and without a repeat (design 6.12, PR-7, FM-69).
//!
//! Three steps, none of which makes the sender wait: register (from here everything is held, with
//! its sequence), take a snapshot, begin with the snapshot's sequence. What is held and not newer
//! is dropped, and so is what comes later and is not newer: a commit that the snapshot shows may
//! be distributed after `begin`.
//!
//! Held notifications are not merged: an entry made of one that the snapshot shows and one that it
//! does not could neither be dropped nor delivered.

use std::fmt;
use std::sync::Arc;

use crate::key::Key;
use crate::listener::Cell;
use crate::listener::walk::Walk;
use crate::notification::Notification;
use crate::processor::registration::Registration;

/// What happened since a listener registered, in order, with sequences.
pub(crate) struct Held<K, T> {
    entries: Vec<HeldEntry<K, T>>,
}

struct HeldEntry<K, T> {
    sequence: u64,
    since: u64,
    notification: Arc<Notification<K, T>>,
}

impl<K, T> Default for Held<K, T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
        }
    }
}

impl<K, T> Held<K, T> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn hold(&mut self, sequence: u64, since: u64, batch: &[Arc<Notification<K, T>>]) {
        self.entries
            .extend(batch.iter().map(|notification| HeldEntry {
                sequence,
                since,
                notification: Arc::clone(notification),
            }));
    }

    /// What the snapshot of `sequence` does not show.
    pub(crate) fn newer_than(
        &self,
        sequence: u64,
    ) -> impl Iterator<Item = (u64, &Arc<Notification<K, T>>)> {
        self.entries
            .iter()
            .filter(move |entry| entry.sequence > sequence || planted!(JoinKeepsOverlap))
            .map(|entry| (entry.since, &entry.notification))
    }
}

/// A listener that is registered and holds what happens; nothing is delivered yet.
///
/// Take a snapshot after this was made, and call [`begin`](Joining::begin) with it, soon: whatever
/// happens until then is held in memory. Dropped without that, the listener is removed.
#[must_use = "a listener delivers nothing until `begin`, and is removed when this is dropped"]
pub struct Joining<K: Key, T: Send + Sync + 'static> {
    cell: Option<Arc<Cell<K, T>>>,
}

impl<K: Key, T: Send + Sync + 'static> Joining<K, T> {
    pub(crate) fn new(cell: Arc<Cell<K, T>>) -> Self {
        Self { cell: Some(cell) }
    }

    /// Starts delivery: the items of `initial`, pulled one by one, then every notification whose
    /// sequence is greater than `sequence`, each once (PR-7, SI-09).
    ///
    /// `initial` shows the state after all commits up to `sequence` and none beyond, as
    /// [`Notification::Added`] with `initial: true`. Each commit has to be distributed after it has
    /// become visible to snapshots.
    pub fn begin(mut self, sequence: u64, initial: Walk<K, T>) -> Registration {
        let cell = self.cell.take().expect("a joining listener begins once");
        cell.begin(sequence, initial);
        Registration::new(cell)
    }
}

impl<K: Key, T: Send + Sync + 'static> Drop for Joining<K, T> {
    fn drop(&mut self) {
        if let Some(cell) = self.cell.take() {
            cell.remove();
        }
    }
}

impl<K: Key, T: Send + Sync + 'static> fmt::Debug for Joining<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.cell.as_ref().map(|cell| cell.name());
        f.debug_struct("Joining")
            .field("name", &name)
            .finish_non_exhaustive()
    }
}
