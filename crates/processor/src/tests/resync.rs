//! SI-16, PL-12: the negotiation as a table, and the schedule.

use std::time::Duration;

use proptest::prelude::*;

use super::rig::a_moment;
use crate::listener::resync::{MINIMUM, ResyncReason, Schedule, negotiate};

const fn seconds(count: u64) -> Option<Duration> {
    Some(Duration::from_secs(count))
}

type Row = (Option<Duration>, u64, bool, u64, u64, ResyncReason);

/// Requested, check period, started; effective, check period afterwards, reason. Seconds, 0: never.
#[rustfmt::skip]
const ROWS: [Row; 11] = [
    (None, 5, false, 0, 5, ResyncReason::NotRequested),
    (Some(Duration::ZERO), 5, true, 0, 5, ResyncReason::NotRequested),
    (seconds(3), 0, false, 0, 0, ResyncReason::ChecksDisabled),
    (seconds(3), 0, true, 0, 0, ResyncReason::ChecksDisabled),
    (seconds(7), 5, false, 7, 5, ResyncReason::AsRequested),
    (seconds(5), 5, true, 5, 5, ResyncReason::AsRequested),
    (seconds(3), 5, false, 3, 3, ResyncReason::LoweredCheckPeriod),
    (seconds(3), 5, true, 5, 5, ResyncReason::RaisedToCheckPeriod),
    (HALF, 5, false, 1, 1, ResyncReason::RaisedToMinimum),
    (HALF, 1, true, 1, 1, ResyncReason::RaisedToMinimum),
    (HALF, 5, true, 5, 5, ResyncReason::RaisedToCheckPeriod),
];

const HALF: Option<Duration> = Some(Duration::from_millis(500));

#[test]
fn negotiation_rows() {
    let or_never = |count| if count == 0 { None } else { seconds(count) };
    for (requested, check, started, effective, check_after, reason) in ROWS {
        let agreement = negotiate(requested, or_never(check), started);
        let case = format!("{requested:?} with {check:?}, started {started}");
        assert_eq!(agreement.terms.requested, requested, "{case}");
        assert_eq!(agreement.terms.effective, or_never(effective), "{case}");
        assert_eq!(agreement.terms.reason, reason, "{case}");
        assert_eq!(agreement.check_period, or_never(check_after), "{case}");
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
    assert_eq!(schedule.next, Some(start + 3 * second));
    assert!(!schedule.is_due(start + 2 * second));
    assert!(schedule.is_due(start + 3 * second));
    schedule.rearm(start + 4 * second);
    assert_eq!(schedule.next, Some(start + 7 * second));

    let never = Schedule::new(negotiate(None, seconds(1), true).terms, start);
    assert_eq!(never.next, None);
    assert!(!never.is_due(start + 1_000 * second));

    // A period beyond the clock's range is never, and no overflow.
    let ages = Some(Duration::MAX);
    let endless = Schedule::new(negotiate(ages, seconds(1), true).terms, start);
    assert_eq!(endless.next, None);
}
