//! Notifications that are created one by one when the consumer pulls them.
//!
//! The objects that were present when a listener joined, and those of a resync, are one entry of
//! the backlog: the iterator reads a snapshot and is pulled outside every lock.

use derive_where::derive_where;

use crate::notification::Notification;

/// A lazy sequence of notifications, usually over a snapshot.
///
/// Pulled by the listener's own task, never under a lock, each item when the one before it has been
/// delivered. Dropped as soon as the listener is removed.
///
/// A panic of the iterator is counted and logged, and the rest of its items is lost. After an
/// initial replay the listener then receives later notifications but never counts as synced:
/// [`wait_synced`](crate::Registration::wait_synced) returns an error and the report of a stop has
/// `initial_unfinished`. After a resync the next one follows as usual.
#[derive_where(Debug)]
pub struct Replay<K, T> {
    /// `None` is known to be empty without a pull.
    #[derive_where(skip)]
    items: Option<Box<dyn Iterator<Item = Notification<K, T>> + Send>>,
    /// The number of items left, at least.
    pub(crate) left: usize,
}

impl<K, T> Replay<K, T> {
    /// Creates a replay over `items`, in their order.
    pub fn new<I>(items: I) -> Self
    where
        I: IntoIterator<Item = Notification<K, T>>,
        I::IntoIter: Send + 'static,
    {
        let items = items.into_iter();
        Self {
            left: items.size_hint().0,
            items: Some(Box::new(items)),
        }
    }

    /// No items: for a listener that joins when there is nothing yet.
    // SI-10
    pub fn empty() -> Self {
        Self {
            items: None,
            left: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_none()
    }
}

impl<K, T> Iterator for Replay<K, T> {
    type Item = Notification<K, T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.saturating_sub(1);
        self.items.as_mut()?.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items
            .as_ref()
            .map_or((0, Some(0)), Iterator::size_hint)
    }
}

/// Why a listener has a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplayKind {
    /// The objects that were present when the listener joined. "Synced" waits for its end.
    Initial,
    /// A resync: every object once more.
    Resync,
}

/// A replay that is pending, or with the consumer.
pub(crate) struct ActiveReplay<K, T> {
    pub(crate) kind: ReplayKind,
    /// Since when it is pending.
    pub(crate) since: u64,
    pub(crate) items: Replay<K, T>,
}

/// The at most one replay a listener has.
#[derive_where(Default)]
pub(crate) enum ReplaySlot<K, T> {
    #[derive_where(default)]
    None,
    /// Pending at a position of the backlog.
    Waiting(u64, ActiveReplay<K, T>),
    /// The consumer has it.
    Active(ReplayKind),
}

impl<K, T> ReplaySlot<K, T> {
    /// The pending replay and its position.
    pub(crate) fn waiting(&self) -> Option<(u64, &ActiveReplay<K, T>)> {
        match self {
            Self::Waiting(position, replay) => Some((*position, replay)),
            Self::None | Self::Active(_) => None,
        }
    }
}
