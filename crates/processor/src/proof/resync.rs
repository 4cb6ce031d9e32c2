//! SI-16, PL-12: the negotiation as a table, and the schedule.

use std::time::Duration;

use proptest::prelude::*;

use super::rig::a_moment;
use crate::resync::{MINIMUM, ResyncReason, Schedule, negotiate};

const fn seconds(count: u64) -> Option<Duration> {
    Some(Duration::from_secs(count))
}

/// requested, check period, started -> effective, check period afterwards, reason.
#[test]
fn negotiation_rows() {
    use ResyncReason::{
        AsRequested, ChecksDisabled, LoweredCheckPeriod, NotRequested, RaisedToCheckPeriod,
        RaisedToMinimum,
    };
    let half = Some(Duration::from_millis(500));
    let rows = [
        (None, seconds(5), false, None, seconds(5), NotRequested),
        (
            Some(Duration::ZERO),
            seconds(5),
            true,
            None,
            seconds(5),
            NotRequested,
        ),
        (seconds(3), None, false, None, None, ChecksDisabled),
        (seconds(3), None, true, None, None, ChecksDisabled),
        (
            seconds(7),
            seconds(5),
            false,
            seconds(7),
            seconds(5),
            AsRequested,
        ),
        (
            seconds(5),
            seconds(5),
            true,
            seconds(5),
            seconds(5),
            AsRequested,
        ),
        (
            seconds(3),
            seconds(5),
            false,
            seconds(3),
            seconds(3),
            LoweredCheckPeriod,
        ),
        (
            seconds(3),
            seconds(5),
            true,
            seconds(5),
            seconds(5),
            RaisedToCheckPeriod,
        ),
        (
            half,
            seconds(5),
            false,
            seconds(1),
            seconds(1),
            RaisedToMinimum,
        ),
        (
            half,
            seconds(1),
            true,
            seconds(1),
            seconds(1),
            RaisedToMinimum,
        ),
        (
            half,
            seconds(5),
            true,
            seconds(5),
            seconds(5),
            RaisedToCheckPeriod,
        ),
    ];
    for (requested, check, started, effective, check_after, reason) in rows {
        let agreement = negotiate(requested, check, started);
        let case = format!("{requested:?} with {check:?}, started {started}");
        assert_eq!(agreement.terms.requested, requested, "{case}");
        assert_eq!(agreement.terms.effective, effective, "{case}");
        assert_eq!(agreement.terms.reason, reason, "{case}");
        assert_eq!(agreement.check_period, check_after, "{case}");
    }
}

fn period() -> impl Strategy<Value = Option<Duration>> {
    proptest::option::of((0..20_000_u64).prop_map(Duration::from_millis))
}

proptest! {
    /// The bounds of SI-16, for any number of listeners one after the other.
    #[test]
    fn negotiation_keeps_its_bounds(
        check in period(),
        asked in proptest::collection::vec((period(), any::<bool>()), 1..20),
    ) {
        let mut check = check.filter(|period| !period.is_zero());
        let mut started = false;
        let mut effective = Vec::new();
        for (requested, start) in asked {
            started |= start;
            let before = check;
            let agreement = negotiate(requested, check, started);
            check = agreement.check_period;
            prop_assert!(!started || check == before, "a started processor checks as before");
            prop_assert_eq!(check.is_some(), before.is_some());
            if let Some(period) = agreement.terms.effective {
                let requested = requested.expect("PR-10: nothing for who did not ask");
                prop_assert!(period >= requested && period >= MINIMUM);
                effective.push(period);
            }
            // None that was agreed before is shorter than the check period now.
            prop_assert!(effective.iter().all(|period| Some(*period) >= check));
        }
    }
}

/// PL-12: due one period after the registration, then one period after each check that found it so.
#[test]
fn schedule_is_due_one_period_later() {
    let start = a_moment();
    let second = Duration::from_secs(1);
    let mut schedule = Schedule::new(negotiate(seconds(3), seconds(1), true).terms, start);
    assert_eq!(schedule.next(), Some(start + 3 * second));
    assert!(!schedule.is_due(start + 2 * second));
    assert!(schedule.is_due(start + 3 * second));
    schedule.rearm(start + 4 * second);
    assert_eq!(schedule.next(), Some(start + 7 * second));

    let never = Schedule::new(negotiate(None, seconds(1), true).terms, start);
    assert_eq!(never.next(), None);
    assert!(!never.is_due(start + 1_000 * second));

    // A period beyond the clock's range is never, and no overflow.
    let ages = Some(Duration::MAX);
    let endless = Schedule::new(negotiate(ages, seconds(1), true).terms, start);
    assert_eq!(endless.next(), None);
}
