//! The notifications that a consumer has taken and not yet handled, in order.
//!
//! The first one stays in place while it is handled, so that its delivery costs no reference count.

use std::sync::Arc;

use derive_where::derive_where;

use crate::backlog::batch::News;
use crate::backlog::ring::Ring;
use crate::notification::Notification;

/// Notifications and the time, in nanoseconds since the creation of the processor, since which they
/// are pending.
pub(crate) struct Run<K, T> {
    pub(crate) since: u64,
    pub(crate) news: News<K, T>,
}

impl<K, T> Run<K, T> {
    pub(crate) fn len(&self) -> usize {
        self.news.as_slice().len()
    }
}

/// The notifications in flight. See the module.
#[derive_where(Default)]
pub(crate) struct InFlight<K, T> {
    runs: Ring<Run<K, T>>,
    /// The index of the next notification in the first run.
    next: usize,
    /// The next notification comes from a replay, which counts its items itself.
    replayed: bool,
}

impl<K, T> InFlight<K, T> {
    pub(crate) fn push(&mut self, run: Run<K, T>) {
        self.runs.push(run);
    }

    /// Exchanges its own empty buffer for `runs`. Returns false if its own buffer is not empty.
    pub(crate) fn exchange(&mut self, runs: &mut Ring<Run<K, T>>) -> bool {
        let empty = self.runs.front().is_none();
        if empty {
            std::mem::swap(&mut self.runs, runs);
        }
        empty
    }

    /// Adds an item of a replay. Replays are pulled when nothing else is in flight.
    pub(crate) fn push_replayed(&mut self, since: u64, notification: Notification<K, T>) {
        let news = News::One(Arc::new(notification));
        self.runs.push(Run { since, news });
        self.replayed = true;
    }

    /// The next notification.
    pub(crate) fn first(&self) -> Option<&Arc<Notification<K, T>>> {
        self.runs.front().map(|run| &run.news.as_slice()[self.next])
    }

    /// Since when the next one has waited, and whether "synced" waits for it.
    pub(crate) fn terms(&self) -> Option<(u64, bool)> {
        let run = self.runs.front()?;
        let counted = !self.replayed && run.news.as_slice()[self.next].is_initial();
        Some((run.since, counted))
    }

    /// Advances to the notification behind the first one. Returns a run that ends with it, whose
    /// drop may run user code.
    #[inline]
    pub(crate) fn advance(&mut self) -> Option<Run<K, T>> {
        self.next += 1;
        if self.runs.front().is_some_and(|run| self.next < run.len()) {
            return None;
        }
        (self.next, self.replayed) = (0, false);
        self.runs.pop()
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.runs.entries().iter().map(Run::len).sum::<usize>() - self.next
    }
}
