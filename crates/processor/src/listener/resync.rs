//! How often a listener is reminded of every object, and when it is due.
//!
//! Pure: the time is an argument. Does not decide what a due listener gets: see `fanout`.

// PL-12
// - SI-16: the rules of the negotiation, each with a reason in the answer. `tests/resync.rs`
// - PR-10: nothing for a listener that did not ask; the period is kept within one check period.

use std::time::{Duration, Instant};

/// The shortest period, since a reminder of everything each moment helps nobody.
#[doc(alias = "minimumResyncPeriod")]
pub(crate) const MINIMUM: Duration = Duration::from_secs(1);

/// What a listener asked for, what it gets, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResyncTerms {
    /// The period asked for.
    pub requested: Option<Duration>,
    /// The period kept. `None`: never.
    pub effective: Option<Duration>,
    /// Why the two are equal or differ.
    pub reason: ResyncReason,
}

/// Why a listener's resync period is what it is.
// SI-16
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResyncReason {
    /// None was asked for, or zero.
    NotRequested,
    /// As asked for.
    AsRequested,
    /// As asked for; the processor checks more often because of it. Only before it has started.
    LoweredCheckPeriod,
    /// Raised to the minimum of one second.
    RaisedToMinimum,
    /// Raised to the processor's check period: a started processor does not check more often.
    RaisedToCheckPeriod,
    /// Never: this processor was made without a check period.
    ChecksDisabled,
}

/// What a negotiation decided: the listener's terms and the check period from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agreement {
    pub(crate) terms: ResyncTerms,
    pub(crate) check_period: Option<Duration>,
}

/// Settles a listener's period against the processor's check period.
// SI-16
pub(crate) fn negotiate(
    requested: Option<Duration>,
    check_period: Option<Duration>,
    started: bool,
) -> Agreement {
    let agree = |effective, reason, check_period| Agreement {
        terms: ResyncTerms {
            requested,
            effective,
            reason,
        },
        check_period,
    };
    let Some(asked) = requested.filter(|period| !period.is_zero()) else {
        return agree(None, ResyncReason::NotRequested, check_period);
    };
    let Some(check) = check_period else {
        return agree(None, ResyncReason::ChecksDisabled, None);
    };
    let wanted = asked.max(MINIMUM);
    if wanted < check && started {
        return agree(Some(check), ResyncReason::RaisedToCheckPeriod, check_period);
    }
    let reason = match wanted > asked {
        true => ResyncReason::RaisedToMinimum,
        false if wanted < check => ResyncReason::LoweredCheckPeriod,
        false => ResyncReason::AsRequested,
    };
    agree(Some(wanted), reason, Some(check.min(wanted)))
}

/// When a listener is due.
// PL-12
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) terms: ResyncTerms,
    /// When the listener is due next; `None`: never.
    pub(crate) next: Option<Instant>,
}

impl Schedule {
    /// Due for the first time one period after `now`.
    pub(crate) fn new(terms: ResyncTerms, now: Instant) -> Self {
        let mut schedule = Self { terms, next: None };
        schedule.rearm(now);
        schedule
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.next.is_some_and(|next| now >= next)
    }

    /// Due again one period after `now`. A period beyond the clock's range is never.
    pub(crate) fn rearm(&mut self, now: Instant) {
        let period = self.terms.effective;
        self.next = period.and_then(|period| now.checked_add(period));
    }
}
