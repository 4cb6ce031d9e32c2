//! The changes of one key that wait together: never empty, oldest first.
//!
//! The first change lives in the list itself, so that the common list of one needs no
//! allocation. Each change remembers the sequence number of the call that brought it, which the
//! queue needs when a change leaves or comes back.

// - FQ-1: a list has at least one change. By construction.
// - FQ-2: changes leave in the order in which they came. `tests`
// - FQ-4, DF-05: only two adjacent deletions merge; the better informed one stays. `tests`

use std::fmt;

use derive_where::derive_where;

use crate::delta::Delta;
use crate::tombstone::Final;

/// Where a change came from, and what became of it so far.
#[derive(Clone, Copy)]
pub(crate) struct Stamp {
    /// Number of the call that brought the change.
    pub(crate) seq: u64,
    /// How often it was leased and given back.
    pub(crate) attempts: u32,
}

impl Stamp {
    pub(crate) fn new(seq: u64) -> Self {
        Self { seq, attempts: 0 }
    }

    /// After one more failed attempt.
    pub(crate) fn failed(self) -> Self {
        let attempts = self.attempts.saturating_add(1);
        Self { attempts, ..self }
    }
}

/// A change with where it came from, which does not matter to equality.
#[derive(Clone)]
#[derive_where(Eq, PartialEq; V)]
pub(crate) struct Stamped<V> {
    pub(crate) delta: Delta<V>,
    #[derive_where(skip(EqHashOrd))]
    pub(crate) stamp: Stamp,
}

impl<V> Stamped<V> {
    pub(crate) fn new(delta: Delta<V>, seq: u64) -> Self {
        let stamp = Stamp::new(seq);
        Self { delta, stamp }
    }
}

/// The changes of one key, oldest first, never empty.
///
/// ```
/// use informer_deltafifo::{Delta, Deltas};
///
/// let deltas = Deltas::of(Delta::Added(1), [Delta::Updated(2)]);
/// assert_eq!((deltas.oldest(), deltas.newest()), (&Delta::Added(1), &Delta::Updated(2)));
/// assert_eq!(deltas.iter().filter_map(Delta::object).sum::<u32>(), 3);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Deltas<V> {
    first: Stamped<V>,
    rest: Rest<V>,
}

/// The changes behind the first. Nearly every list has none, and there may be one for each object
/// of a large collection, so this is one word.
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::box_collection, reason = "a vector is three words")]
struct Rest<V>(Option<Box<Vec<Stamped<V>>>>);

impl<V> Rest<V> {
    const NONE: Self = Self(None);

    #[inline]
    fn as_slice(&self) -> &[Stamped<V>] {
        self.0.as_ref().map_or(&[], |rest| rest)
    }

    #[inline]
    fn as_mut_slice(&mut self) -> &mut [Stamped<V>] {
        self.0.as_mut().map_or(&mut [], |rest| rest)
    }
}

/// No list is empty inside, so that equal lists are equal.
impl<V> Extend<Stamped<V>> for Rest<V> {
    fn extend<I: IntoIterator<Item = Stamped<V>>>(&mut self, changes: I) {
        let mut changes = changes.into_iter();
        let Some(first) = changes.next() else {
            return;
        };
        let rest = self.0.get_or_insert_default();
        rest.push(first);
        rest.extend(changes);
    }
}

impl<V> FromIterator<Stamped<V>> for Rest<V> {
    fn from_iter<I: IntoIterator<Item = Stamped<V>>>(changes: I) -> Self {
        let mut rest = Self::NONE;
        rest.extend(changes);
        rest
    }
}

/// What became of a change that was put behind a list.
pub(crate) enum Pushed<V> {
    Appended,
    /// It was a second deletion in a row, and this one of the two was not kept.
    // FQ-4
    Merged(Final<V>),
}

impl<V> Deltas<V> {
    /// A list of one change.
    ///
    /// Queues make their own lists; this is for tests of what consumes them.
    pub fn new(first: Delta<V>) -> Self {
        Self::stamped(Stamped::new(first, 0))
    }

    /// A list of several changes, oldest first.
    pub fn of(oldest: Delta<V>, newer: impl IntoIterator<Item = Delta<V>>) -> Self {
        let first = Stamped::new(oldest, 0);
        let rest = newer.into_iter().map(|delta| Stamped::new(delta, 0));
        let rest = rest.collect();
        Self { first, rest }
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
        1 + self.rest.as_slice().len()
    }

    /// How often this list was leased and given back.
    pub fn attempts(&self) -> u32 {
        self.first.stamp.attempts
    }

    pub(crate) fn stamped(first: Stamped<V>) -> Self {
        Self {
            first,
            rest: Rest::NONE,
        }
    }

    pub(crate) fn newest_stamped(&self) -> &Stamped<V> {
        self.rest.as_slice().last().unwrap_or(&self.first)
    }

    pub(crate) fn newest_mut(&mut self) -> &mut Stamped<V> {
        let Self { first, rest } = self;
        rest.as_mut_slice().last_mut().unwrap_or(first)
    }

    fn stamps(&self) -> impl DoubleEndedIterator<Item = &Stamped<V>> {
        std::iter::once(&self.first).chain(self.rest.as_slice())
    }

    /// Visits the number of the call of each change, oldest first.
    #[inline]
    pub(crate) fn for_each_seq(&self, mut visit: impl FnMut(u64)) {
        visit(self.first.stamp.seq);
        for stamped in self.rest.as_slice() {
            visit(stamped.stamp.seq);
        }
    }

    /// The list after one more failed attempt, split in two: the changes that failed
    /// `max_attempts` times, and those to be tried again. The former are the oldest ones, since a
    /// change that joined them later was tried less often.
    pub(crate) fn failed(mut self, max_attempts: u32) -> (Option<Self>, Option<Self>) {
        let count = |stamped: &mut Stamped<V>| stamped.stamp = stamped.stamp.failed();
        count(&mut self.first);
        self.rest.as_mut_slice().iter_mut().for_each(count);
        if self.attempts() < max_attempts {
            return (None, Some(self));
        }
        let exhausted = |stamped: &Stamped<V>| stamped.stamp.attempts >= max_attempts;
        let at = self.rest.as_slice().partition_point(exhausted);
        let rest = self.rest.0.take().map(|rest| *rest).unwrap_or_default();
        let mut rest = rest.into_iter();
        self.rest = rest.by_ref().take(at).collect();
        let mut newer = rest;
        let again = newer.next().map(|first| Self {
            first,
            rest: newer.collect(),
        });
        (Some(self), again)
    }

    /// Puts the oldest change of another list in the place of the newest one, and returns that.
    pub(crate) fn replace_newest(&mut self, by: Self) -> Delta<V> {
        std::mem::replace(self.newest_mut(), by.first).delta
    }

    pub(crate) fn oldest_seq(&self) -> u64 {
        self.first.stamp.seq
    }

    /// Puts another list of the same key behind this one.
    ///
    /// Of two deletions in a row one is kept, as [`Final::merge`] decides, with the older
    /// number, because nothing before it may be taken for applied while it is pending.
    // DF-05, FQ-4
    pub(crate) fn append(&mut self, newer: Self) -> Pushed<V> {
        let pushed = match (&mut self.newest_mut().delta, newer.first.delta) {
            (Delta::Deleted(kept), Delta::Deleted(last)) => Pushed::Merged(kept.merge(last)),
            (_, delta) => {
                let stamp = newer.first.stamp;
                self.rest.extend([Stamped { delta, stamp }]);
                Pushed::Appended
            }
        };
        self.rest
            .extend(newer.rest.0.into_iter().flat_map(|rest| *rest));
        pushed
    }
}

impl<V> fmt::Debug for Deltas<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
