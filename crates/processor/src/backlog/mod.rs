//! What a listener has been handed and not taken: one of two buffers, chosen by `Overflow`.
//!
//! The buffer also determines where in its order a replay stands. It does not pull replays.

pub(crate) mod batch;
pub(crate) mod checkpoints;
pub(crate) mod coalesce;
pub(crate) mod compress;
pub(crate) mod in_flight;
pub(crate) mod pending_item;
pub(crate) mod ring;

use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::backlog::batch::{Batch, News};
use crate::backlog::checkpoints::Checkpoints;
use crate::backlog::coalesce::{CoalescingRing, Merged, Vanished};
use crate::backlog::in_flight::{InFlight, Run};
use crate::backlog::pending_item::Displaced;
use crate::backlog::ring::Ring;
use crate::listener::config::Overflow;
use crate::notification::Notification;

/// The pending notifications. See the module.
pub(crate) enum Backlog<K, T> {
    Grow {
        ring: Ring<Run<K, T>>,
        /// Notifications in the ring, and those that ever left it: the position of its head.
        len: usize,
        taken: u64,
        warning: Warning,
        checkpoints: Checkpoints,
    },
    Coalesce(CoalescingRing<K, T>),
}

impl<K: Clone + Eq + Hash, T> Backlog<K, T> {
    pub(crate) fn new(overflow: Overflow) -> Self {
        match overflow {
            Overflow::Grow { warn_at } => Self::Grow {
                ring: Ring::default(),
                len: 0,
                taken: 0,
                warning: Warning::new(warn_at),
                checkpoints: Checkpoints::default(),
            },
            Overflow::Coalesce => Self::Coalesce(CoalescingRing::default()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Grow { len, .. } => *len,
            Self::Coalesce(ring) => ring.entries,
        }
    }

    pub(crate) fn front_since(&self) -> Option<u64> {
        match self {
            Self::Grow { ring, .. } => ring.front().map(|run| run.since),
            Self::Coalesce(ring) => ring.front_since(),
        }
    }

    pub(crate) fn push(
        &mut self,
        notification: &Arc<Notification<K, T>>,
        since: u64,
        displaced: &mut Vec<Displaced<K, T>>,
    ) -> Merged {
        match self {
            Self::Grow { ring, len, .. } => {
                let news = News::One(Arc::clone(notification));
                ring.push(Run { since, news });
                *len += 1;
                Merged::default()
            }
            Self::Coalesce(ring) => ring.push(notification, since, displaced),
        }
    }

    /// Takes a batch as a whole, at the price of one; false if each has to be looked at.
    pub(crate) fn push_batch(&mut self, batch: &Batch<K, T>, since: u64) -> bool {
        match self {
            Self::Grow { ring, len, .. } => {
                let news = batch.news.clone();
                *len += news.as_slice().len();
                ring.push(Run { since, news });
                true
            }
            Self::Coalesce(_) => false,
        }
    }

    /// The position of a replay that is queued now. A growing buffer keeps the order. In a
    /// coalescing one the replay goes first and skips keys with something pending: an entry before
    /// the replay could be merged with one from behind it, and the replay would then deliver an
    /// older state.
    pub(crate) fn replay_position(&self) -> u64 {
        match self {
            Self::Grow { len, taken, .. } => *taken + *len as u64,
            Self::Coalesce(_) => 0,
        }
    }

    /// Records that a resync is queued.
    pub(crate) fn resync_begins(&mut self) {
        if let Self::Coalesce(ring) = self {
            ring.resync_begins();
        }
    }

    /// Records that the resync is over. Returns keys, whose drops may run user code.
    #[must_use]
    pub(crate) fn resync_ends(&mut self) -> Option<Vanished<K>> {
        match self {
            Self::Grow { .. } => None,
            Self::Coalesce(ring) => ring.resync_ends(),
        }
    }

    /// Whether the replay at `position` is next.
    pub(crate) fn is_replay_next(&self, position: u64) -> bool {
        match self {
            Self::Grow { taken, .. } => *taken == position,
            Self::Coalesce(_) => true,
        }
    }

    /// Whether a resync of this key would tell less than what waits for it.
    // RB-5
    pub(crate) fn overtakes_resync(&self, key: &K) -> bool {
        match self {
            // Its line is in order: what waits is newer than the replay and comes after it.
            Self::Grow { .. } => false,
            Self::Coalesce(ring) => ring.overtakes_resync(key),
        }
    }

    pub(crate) fn checkpoints(&self) -> &Checkpoints {
        match self {
            Self::Grow { checkpoints, .. } => checkpoints,
            Self::Coalesce(ring) => &ring.checkpoints,
        }
    }

    /// Sets a checkpoint behind everything that is pending, which includes the `replays` replays
    /// queued so far. Returns its number.
    pub(crate) fn set_checkpoint(&mut self, replays: u64) -> u64 {
        match self {
            Self::Grow {
                len,
                taken,
                checkpoints,
                ..
            } => checkpoints.set(*taken + *len as u64, replays),
            Self::Coalesce(ring) => {
                let end = ring.end();
                ring.checkpoints.set(end, replays)
            }
        }
    }

    /// Passes the checkpoints before which nothing is pending any more, now that `replays` replays
    /// are over and the consumer has handled what it took.
    pub(crate) fn pass_checkpoints(&mut self, replays: u64) {
        match self {
            Self::Grow {
                taken, checkpoints, ..
            } => checkpoints.pass(*taken, replays),
            Self::Coalesce(ring) => ring.checkpoints.pass(ring.first, replays),
        }
    }

    /// Takes entries until there are `limit` or more, batches whole, none from behind `boundary`,
    /// the position of a replay or of the next checkpoint: a caller that waits for the checkpoint
    /// must not wait for entries that came after it. A coalescing buffer gives one at a time,
    /// because an entry that was taken can no longer be merged.
    pub(crate) fn take(
        &mut self,
        limit: usize,
        boundary: Option<u64>,
        out: &mut InFlight<K, T>,
    ) -> usize {
        match self {
            Self::Grow {
                ring, len, taken, ..
            } => {
                // The boundary stands between two batches: it was put behind whole ones.
                let mut count = 0;
                if limit == 0 || boundary == Some(*taken) {
                    return count;
                }
                let all = *taken + *len as u64;
                if *len <= limit && boundary.is_none_or(|at| at >= all) && out.exchange(ring) {
                    *taken = all;
                    return std::mem::take(len);
                }
                ring.pop_each(|run| {
                    count += run.len();
                    *taken += run.len() as u64;
                    out.push(run);
                    count < limit && boundary != Some(*taken)
                });
                *len -= count;
                count
            }
            Self::Coalesce(ring) => {
                let Some((since, notification)) = ring.pop() else {
                    return 0;
                };
                let news = News::One(notification);
                out.push(Run { since, news });
                1
            }
        }
    }

    /// The depth to warn of, if `depth` is one.
    pub(crate) fn warn(&mut self, depth: usize) -> Option<usize> {
        match self {
            Self::Grow { warning, .. } => warning.observe(depth),
            Self::Coalesce(_) => None,
        }
    }
}

/// Says when a backlog is worth a line in the log: at a depth, and at each doubling of it.
#[derive(Debug)]
pub(crate) struct Warning {
    at: usize,
    next: usize,
}

impl Warning {
    pub(crate) fn new(at: NonZeroUsize) -> Self {
        Self {
            at: at.get(),
            next: at.get(),
        }
    }

    /// The depth, if it is worth a line. Begins anew when the backlog has fallen to half of where
    /// warnings start, so that swaying around that depth does not fill the log.
    pub(crate) fn observe(&mut self, depth: usize) -> Option<usize> {
        if depth <= self.at / 2 {
            self.next = self.at;
        }
        if depth < self.next {
            return None;
        }
        while self.next <= depth && self.next != usize::MAX {
            self.next = self.next.saturating_mul(2);
        }
        Some(depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notification::Deleted;

    fn gone(key: u8) -> Arc<Notification<u8, ()>> {
        Arc::new(Notification::Deleted(Deleted::Unknown { key, last: None }))
    }

    /// A batch goes on until the limit is reached, and not beyond; a commit is taken whole.
    #[test]
    fn a_batch_ends_where_its_limit_is() {
        let mut backlog = Backlog::new(Overflow::Grow {
            warn_at: NonZeroUsize::MAX,
        });
        for key in 0..3 {
            backlog.push(&gone(key), 0, &mut Vec::new());
        }
        for batch in Batch::split(&[gone(3), gone(4)]).as_slice() {
            assert!(backlog.push_batch(batch, 0));
        }
        let mut out = InFlight::default();
        assert_eq!(backlog.take(2, None, &mut out), 2);
        assert_eq!((backlog.len(), out.len()), (3, 2));
        assert_eq!(backlog.take(2, None, &mut out), 3);
        assert_eq!((backlog.len(), out.len()), (0, 5));
        (0..4).for_each(|_| drop(out.advance()));
        assert_eq!(out.first().map(|last| *last.key()), Some(4));
        assert_eq!(out.len(), 1, "the second of a commit");
    }
}
