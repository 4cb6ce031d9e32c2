//! What a consumer has taken and not yet handled, in order.
//!
//! The first one is looked at in place while it is handled, so that handing it out costs no
//! reference count.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::backlog::Entry;
use crate::notification::Notification;

/// Notifications that wait since one moment.
pub(crate) enum Run<K, T> {
    /// A batch of all listeners, from `next` on.
    Shared {
        since: u64,
        news: Arc<[Arc<Notification<K, T>>]>,
        next: usize,
    },
    /// One that is this listener's own.
    One(Entry<K, T>),
    /// One from a walk, which counts its items itself.
    Walked(Entry<K, T>),
}

impl<K, T> Run<K, T> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Shared { news, next, .. } => news.len() - next,
            Self::One(_) | Self::Walked(_) => 1,
        }
    }

    pub(crate) fn since(&self) -> u64 {
        match self {
            Self::Shared { since, .. } => *since,
            Self::One(entry) | Self::Walked(entry) => entry.since,
        }
    }

    fn first(&self) -> &Arc<Notification<K, T>> {
        match self {
            Self::Shared { news, next, .. } => &news[*next],
            Self::One(entry) | Self::Walked(entry) => &entry.notification,
        }
    }
}

/// See the top of this file.
pub(crate) struct InHand<K, T> {
    runs: VecDeque<Run<K, T>>,
}

impl<K, T> InHand<K, T> {
    pub(crate) fn new() -> Self {
        Self {
            runs: VecDeque::new(),
        }
    }

    pub(crate) fn push(&mut self, run: Run<K, T>) {
        self.runs.push_back(run);
    }

    /// The next notification.
    pub(crate) fn first(&self) -> Option<&Arc<Notification<K, T>>> {
        self.runs.front().map(Run::first)
    }

    /// Since when the next one has waited, and whether "synced" waits for it.
    pub(crate) fn terms(&self) -> Option<(u64, bool)> {
        let run = self.runs.front()?;
        let counted = !matches!(run, Run::Walked(_)) && run.first().is_initial();
        Some((run.since(), counted))
    }

    /// Drops the first one, which is done with.
    pub(crate) fn advance(&mut self) {
        if let Some(Run::Shared { news, next, .. }) = self.runs.front_mut()
            && *next + 1 < news.len()
        {
            *next += 1;
        } else {
            self.runs.pop_front();
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.runs.iter().map(Run::len).sum()
    }
}
