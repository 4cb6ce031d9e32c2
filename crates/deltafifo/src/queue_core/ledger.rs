//! Which calls are settled: sequence numbers, positions, and how far the consumer got.
//!
//! Every call that brings something gets a number, in order, and the position received with it.
//! A call is settled when all its changes have been acknowledged, merged or exhausted. What
//! has been applied is the position just before the first call that is not settled.
//! The changes themselves live in the queues; here they are only counted.
//!
//! - Applied never moves back, and never past a change that is pending or leased. `tests`
//! - The length towards the bound is the number of unsettled calls: a relist or a
//!   resync counts one, however many keys it touches. `tests`

// FQ-13

use std::collections::VecDeque;

use derive_where::derive_where;

use crate::spare;

/// The calls from the first unsettled one on.
#[cfg_attr(any(test, fuzzing), derive(Clone))]
#[derive_where(Debug)]
pub(crate) struct Ledger<P> {
    /// Number of the first call in `calls`.
    first: u64,
    #[derive_where(skip(Debug))]
    calls: VecDeque<Call<P>>,
    /// The position of the newest call before `first`.
    #[derive_where(skip(Debug))]
    applied: Option<P>,
    /// How many of `calls` are unsettled.
    unsettled: usize,
}

#[derive(Clone)]
struct Call<P> {
    /// What had been received when the call returned.
    position: Option<P>,
    /// Changes of the call that are pending or leased.
    open: usize,
    /// Those of them that are leased.
    leased: usize,
}

impl<P: Clone> Ledger<P> {
    pub(crate) fn new() -> Self {
        Self {
            first: 1,
            calls: VecDeque::new(),
            applied: None,
            unsettled: 0,
        }
    }

    /// Starts a call that has brought `open` changes so far. Without a position nothing was
    /// received with it (a resync).
    #[inline]
    pub(crate) fn begin(&mut self, position: Option<P>, open: usize) -> u64 {
        let seq = self.next();
        let position = position.or_else(|| self.received().cloned());
        self.calls.push_back(Call {
            position,
            open,
            leased: 0,
        });
        self.unsettled += usize::from(open > 0);
        seq
    }

    /// Ends the call started last. One that brought no change only moves the position.
    pub(crate) fn end(&mut self) {
        let Some(last) = self.calls.pop_back() else {
            return;
        };
        match self.calls.back_mut() {
            _ if last.open > 0 => self.calls.push_back(last),
            // Two empty calls in a row are one, so that a flood of them needs no memory.
            Some(before) if before.open == 0 => before.position = last.position,
            Some(_) => self.calls.push_back(last),
            None => {
                self.first += 1;
                self.applied = last.position;
            }
        }
    }

    /// The number of the call that begins next.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.first + self.calls.len() as u64
    }

    /// A call begins and ends that brought no change.
    pub(crate) fn nothing(&mut self, position: P) {
        self.begin(Some(position), 0);
        self.end();
    }

    /// Counts one change of call `seq`.
    pub(crate) fn add(&mut self, seq: u64) {
        let call = self.call(seq);
        call.open += 1;
        self.unsettled += usize::from(call.open == 1);
    }

    /// One change of call `seq` is done with, leased or not.
    #[inline]
    pub(crate) fn done(&mut self, seq: u64, leased: bool) {
        let call = self.call(seq);
        assert!(call.open > 0, "a change is settled at most once");
        call.open -= 1;
        call.leased -= usize::from(leased);
        self.unsettled -= usize::from(call.open == 0);
    }

    #[inline]
    pub(crate) fn lease(&mut self, seq: u64) {
        let call = self.call(seq);
        call.leased += 1;
        assert!(call.leased <= call.open, "only what is open can be leased");
    }

    pub(crate) fn unlease(&mut self, seq: u64) {
        self.call(seq).leased -= 1;
    }

    /// Forgets the settled calls at the front.
    #[inline]
    pub(crate) fn settle(&mut self) {
        while self.calls.front().is_some_and(|call| call.open == 0) {
            self.first += 1;
            self.applied = self.calls.pop_front().and_then(|call| call.position);
        }
        spare::shrink(&mut self.calls);
    }

    /// Whether all changes of call `seq` are done with.
    pub(crate) fn is_settled(&self, seq: u64) -> bool {
        let at = seq
            .checked_sub(self.first)
            .and_then(|at| self.calls.get(at as usize));
        at.is_none_or(|call| call.open == 0)
    }

    pub(crate) fn unsettled(&self) -> usize {
        self.unsettled
    }

    pub(crate) fn applied(&self) -> Option<&P> {
        self.applied.as_ref()
    }

    pub(crate) fn received(&self) -> Option<&P> {
        self.calls
            .back()
            .map_or(self.applied.as_ref(), |call| call.position.as_ref())
    }

    /// What `applied` becomes when all that is leased is acknowledged.
    #[inline]
    pub(crate) fn applied_after(&self) -> Option<&P> {
        let settled = self
            .calls
            .iter()
            .take_while(|call| call.open == call.leased);
        settled
            .last()
            .map_or(self.applied.as_ref(), |call| call.position.as_ref())
    }

    /// What had been received with call `seq`, which is unsettled.
    pub(crate) fn position(&self, seq: u64) -> Option<&P> {
        self.calls[(seq - self.first) as usize].position.as_ref()
    }

    #[inline]
    fn call(&mut self, seq: u64) -> &mut Call<P> {
        &mut self.calls[(seq - self.first) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FQ-13: bookmarks that come while a change waits need no memory, however many they are.
    #[test]
    fn a_flood_of_empty_calls_is_one() {
        let mut ledger = Ledger::new();
        ledger.begin(Some(1), 1);
        for position in 2..1_000 {
            ledger.nothing(position);
        }
        assert_eq!((ledger.calls.len(), ledger.received()), (2, Some(&999)));
    }
}
