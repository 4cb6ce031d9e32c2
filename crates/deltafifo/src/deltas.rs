//! The changes of one key that wait together: never empty, oldest first.
//!
//! The first change lives in the list itself, so that the common list of one needs no
//! allocation. Each change remembers the sequence number of the call that brought it, which the
//! queue needs when a change leaves or comes back.
//!
//! - FQ-1: a list has at least one change. By construction.
//! - FQ-2: changes leave in the order in which they came. `tests`
//! - FQ-4, DF-05: only two adjacent deletions merge; the better informed one stays. `tests`

use std::fmt;

use crate::delta::Delta;
use crate::tombstone::Final;

/// A change with where it came from.
#[derive(Clone)]
pub(crate) struct Stamped<V> {
    pub(crate) delta: Delta<V>,
    /// Number of the call that brought the change.
    pub(crate) seq: u64,
    /// How often it was handed out and not done.
    pub(crate) attempts: u32,
}

/// The changes of one key, oldest first, never empty.
#[derive(Clone)]
pub struct Deltas<V> {
    first: Stamped<V>,
    rest: Vec<Stamped<V>>,
}

/// What became of a change that was put behind a list.
pub(crate) enum Pushed {
    Appended,
    /// It was a second deletion in a row; one of the two was kept (FQ-4).
    Merged,
}

impl<V> Deltas<V> {
    /// A list of one change.
    ///
    /// Queues make their own lists; this is for tests of what consumes them.
    pub fn new(first: Delta<V>) -> Self {
        Self::stamped(Stamped {
            delta: first,
            seq: 0,
            attempts: 0,
        })
    }

    /// A list of several changes, oldest first.
    pub fn of(oldest: Delta<V>, newer: impl IntoIterator<Item = Delta<V>>) -> Self {
        let mut deltas = Self::new(oldest);
        let stamp = |delta| Stamped {
            delta,
            seq: 0,
            attempts: 0,
        };
        deltas.rest.extend(newer.into_iter().map(stamp));
        deltas
    }

    /// The oldest change.
    #[doc(alias = "Oldest")]
    pub fn oldest(&self) -> &Delta<V> {
        &self.first.delta
    }

    /// The newest change.
    #[doc(alias = "Newest")]
    pub fn newest(&self) -> &Delta<V> {
        &self.newest_stamped().delta
    }

    /// The changes, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Delta<V>> {
        self.stamps().map(|stamped| &stamped.delta)
    }

    /// The objects of the changes, oldest first; a tombstone may have none.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &V> {
        self.iter().filter_map(Delta::object)
    }

    /// How many changes there are; at least one.
    #[expect(clippy::len_without_is_empty, reason = "a list is never empty (FQ-1)")]
    pub fn len(&self) -> usize {
        1 + self.rest.len()
    }

    /// How often this list was handed out and not acknowledged.
    pub fn attempts(&self) -> u32 {
        self.first.attempts
    }

    pub(crate) fn stamped(first: Stamped<V>) -> Self {
        Self {
            first,
            rest: Vec::new(),
        }
    }

    pub(crate) fn newest_stamped(&self) -> &Stamped<V> {
        self.rest.last().unwrap_or(&self.first)
    }

    pub(crate) fn newest_stamped_mut(&mut self) -> &mut Stamped<V> {
        self.rest.last_mut().unwrap_or(&mut self.first)
    }

    pub(crate) fn stamps(&self) -> impl DoubleEndedIterator<Item = &Stamped<V>> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    pub(crate) fn set_attempts(&mut self, attempts: u32) {
        self.first.attempts = attempts;
    }

    /// All of them were handed out and not done. Splits off those that were tried often enough: the
    /// oldest ones, since what joined them later was tried less often.
    pub(crate) fn failed(mut self, max_attempts: u32) -> (Option<Self>, Option<Self>) {
        let count =
            |stamped: &mut Stamped<V>| stamped.attempts = stamped.attempts.saturating_add(1);
        count(&mut self.first);
        self.rest.iter_mut().for_each(count);
        if self.first.attempts < max_attempts {
            return (None, Some(self));
        }
        let exhausted = |stamped: &Stamped<V>| stamped.attempts >= max_attempts;
        let at = self
            .rest
            .iter()
            .take_while(|stamped| exhausted(stamped))
            .count();
        let mut newer = self.rest.split_off(at).into_iter();
        let again = newer.next().map(|first| Self {
            first,
            rest: newer.collect(),
        });
        (Some(self), again)
    }

    /// Puts a change behind the others (the one table of DF-05 and FQ-4).
    ///
    /// A merged deletion keeps the older number, because nothing before it may be taken for
    /// applied while it waits.
    pub(crate) fn push(&mut self, newer: Stamped<V>) -> Pushed {
        match (&mut self.newest_stamped_mut().delta, newer.delta) {
            (Delta::Deleted(kept), Delta::Deleted(last)) => {
                let older = std::mem::replace(kept, Final::Unknown(None));
                *kept = Final::better(older, last);
                Pushed::Merged
            }
            (_, delta) => {
                self.rest.push(Stamped { delta, ..newer });
                Pushed::Appended
            }
        }
    }

    /// Puts another list of the same key behind this one, and says whose change a merge used up.
    pub(crate) fn append(&mut self, newer: Self) -> Option<u64> {
        let seq = newer.first.seq;
        let merged = match self.push(newer.first) {
            Pushed::Appended => None,
            Pushed::Merged => Some(seq),
        };
        self.rest.extend(newer.rest);
        merged
    }
}

impl<V> fmt::Debug for Deltas<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<V: PartialEq> PartialEq for Deltas<V> {
    /// Equal changes in equal order; where they came from does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<V: Eq> Eq for Deltas<V> {}
