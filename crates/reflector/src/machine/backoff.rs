//! After a failure: what is tried next, and when.
//!
//! Every failed attempt passes through [`Machine::answer`], once (RFX-13). Of each kind of answer
//! that needs no delay, one is free per healthy spell: the second time the same thing happens it is
//! not bad luck, and it waits (R1, FM-03, FM-04). So it is with answers that need the shortest.

use std::time::Duration;

use super::{Effect, Input, Machine, Pass, State, list::Extent};
use crate::{Failure, FailureKind, Report};

/// What is learnt from failures and remembered beyond a phase.
#[derive(Default)]
pub(super) struct Lessons {
    /// A list at the resume version was refused; lists are consistent until one succeeds (RL-12).
    pub(super) unusable: bool,
    /// A list of any state came in pages: there is no watch cache, so lists are paged (RL-18).
    pub(super) paginated: bool,
    /// Pages of this size were small enough (SEC-17).
    pub(super) page_limit: Option<u32>,
    /// Streaming lists that failed since one last succeeded, or since the last pause.
    pub(super) failed_streams: u32,
    /// Streaming lists are left alone until then (RFX-12).
    pub(super) streaming_paused_until: Duration,
    /// Which answers without a delay have been given since the last healthy spell.
    pub(super) spent: Spent,
    /// Watches have been failing without bringing anything.
    pub(super) trouble: Option<Trouble>,
    /// A consistent list has just shown where the server's history ends; good for one watch.
    pub(super) vouched: bool,
    pub(super) incomparable_told: bool,
}

/// The answers that need no delay, or the shortest, once each.
#[derive(Default)]
pub(super) struct Spent {
    /// Watching again after an early close (FM-21).
    pub(super) reopen: bool,
    /// Listing consistently after a version was refused (RL-19).
    pub(super) consistent: bool,
    /// Listing unpaged after a continue token was refused (PG-04).
    pub(super) unpaged: bool,
    /// Listing soon after the history was lost (R4).
    pub(super) history: bool,
    /// Asking soon after credentials were refused: they are read again (R7).
    pub(super) credentials: bool,
}

impl Spent {
    /// Where an answer is clear, says what to do, and has not been given in vain before.
    ///
    /// Who waits after an outage has been spread by its delays already, so that no herd comes of
    /// not waiting once more.
    fn is_clear(&mut self, kind: FailureKind) -> bool {
        let spent = match kind {
            FailureKind::Expired | FailureKind::TooLarge => &mut self.history,
            FailureKind::Unauthorized => &mut self.credentials,
            _ => return false,
        };
        !std::mem::replace(spent, true)
    }
}

/// Since when, and how, watches have been failing.
#[derive(Default)]
pub(super) struct Trouble {
    /// Since when watches are answered 500.
    pub(super) internal_since: Option<Duration>,
    /// Since when watches break in other ways that may be the version's doing.
    pub(super) broken_since: Option<Duration>,
    /// What came was not the protocol, once already (FM-30).
    pub(super) protocol: bool,
}

/// Between two attempts.
pub(super) struct Waiting {
    pub(super) until: Duration,
    pub(super) next: Next,
}

/// The next attempt.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// Fetch the collection, by stream if allowed.
    Populate(Pass),
    /// Fetch the collection by list.
    List(Pass, Extent),
    /// Watch from the resume version.
    Watch,
}

/// When the next attempt is due.
#[derive(Clone, Copy)]
pub(super) enum Pace {
    /// Now; a different request is tried.
    AtOnce,
    /// After a delay, shorter if there was progress.
    Delayed { progress: bool },
}

impl<T> Machine<T> {
    /// Reports a failed attempt, and makes the next one or waits for it.
    pub(super) fn answer(
        &mut self,
        failure: Failure,
        next: Next,
        pace: Pace,
        out: &mut Vec<Effect<T>>,
    ) {
        let next_in = match pace {
            Pace::AtOnce => {
                self.delays.count(self.now);
                Duration::ZERO
            }
            Pace::Delayed { .. } if self.lessons.spent.is_clear(failure.kind) => {
                self.delays.soon(self.now, &failure, &mut self.chance)
            }
            Pace::Delayed { progress } => {
                let chance = &mut self.chance;
                self.delays.draw(self.now, &failure, progress, chance)
            }
        };
        out.push(Effect::Report(Report::Failed {
            failure,
            attempts: self.delays.attempts(),
            next_in,
        }));
        if next_in.is_zero() {
            return self.go(next, out);
        }
        let until = self.now.saturating_add(next_in);
        self.enter(State::Waiting(Waiting { until, next }), out);
    }

    pub(super) fn waiting(&mut self, waiting: Waiting, input: &Input<T>, out: &mut Vec<Effect<T>>) {
        match input {
            Input::Timer if self.now >= waiting.until => self.go(waiting.next, out),
            _ => self.state = State::Waiting(waiting),
        }
    }

    pub(super) fn go(&mut self, next: Next, out: &mut Vec<Effect<T>>) {
        match next {
            Next::Populate(pass) => self.populate(pass, out),
            Next::List(pass, extent) => self.begin_list(pass, extent, out),
            Next::Watch => self.open_watch(out),
        }
    }

    /// A watch lived long enough: failures from now on have nothing to do with those before.
    pub(super) fn recovered(&mut self) {
        self.delays.start_over();
        self.lessons.spent = Spent::default();
        self.lessons.trouble = None;
    }
}

/// At once the first time, later like any failure.
pub(super) fn once(spent: &mut bool) -> Pace {
    if std::mem::replace(spent, true) {
        Pace::Delayed { progress: false }
    } else {
        Pace::AtOnce
    }
}
