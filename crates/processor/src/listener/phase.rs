//! The phases of a listener, with the data that only one of them has.

use std::sync::Arc;

use derive_where::derive_where;

use crate::listener::status::ListenerPhase;
use crate::notification::Notification;

/// The phase of a listener.
pub(crate) enum Phase<K, T> {
    Joining(Buffered<K, T>),
    Live,
    Draining,
    Ended,
}

impl<K, T> Phase<K, T> {
    pub(crate) fn public(&self) -> ListenerPhase {
        match self {
            Self::Joining(_) => ListenerPhase::Joining,
            Self::Live => ListenerPhase::Live,
            Self::Draining => ListenerPhase::Draining,
            Self::Ended => ListenerPhase::Ended,
        }
    }
}

/// The notifications since a listener was registered, in order, with their sequences.
#[derive_where(Default)]
pub(crate) struct Buffered<K, T> {
    entries: Vec<BufferedEntry<K, T>>,
}

struct BufferedEntry<K, T> {
    sequence: u64,
    since: u64,
    notification: Arc<Notification<K, T>>,
}

impl<K, T> Buffered<K, T> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn extend(&mut self, sequence: u64, since: u64, batch: &[Arc<Notification<K, T>>]) {
        self.entries
            .extend(batch.iter().map(|notification| BufferedEntry {
                sequence,
                since,
                notification: Arc::clone(notification),
            }));
    }

    /// The notifications that the snapshot of `sequence` does not show.
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
