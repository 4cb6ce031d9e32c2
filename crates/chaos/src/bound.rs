//! How fast an informer has to be back, by the specification's rules R4, R5, R8 and R10.

use std::time::Duration;

use crate::plan::Kind;

/// Watches of the impatient informers last this long, so that a silent peer is found in 20 s.
pub(crate) const SHORT_WATCH: Duration = Duration::from_secs(15);

/// Every informer is compared with the server this often.
pub(crate) const CHECKED: Duration = Duration::from_secs(10);

/// How long a server thinks about a version that it has not reached before it says so.
const UNREACHED: Duration = Duration::from_secs(3);

/// What is demanded after one outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bound {
    /// Within which the outage must be noticed, where that is bounded.
    pub(crate) found: Option<Duration>,
    /// Within which everything must be right again, from when the server can be reached.
    pub(crate) recovered: Duration,
    /// For the table.
    pub(crate) rule: &'static str,
}

impl Bound {
    /// For an outage of this length.
    pub(crate) fn of(kind: Kind, outage: Duration) -> Self {
        let dead = |found, rule| Self {
            found: Some(found),
            // A new connection passes at once, so what remains is what R4 grants the shortest.
            recovered: found + after(Duration::ZERO),
            rule,
        };
        match kind {
            Kind::Reset | Kind::Finish => dead(Duration::from_secs(1), "R5 dead"),
            Kind::HalfOpen => dead(Duration::from_secs(45), "R5 half-open"),
            Kind::Blackhole => dead(SHORT_WATCH + Duration::from_secs(5), "R5 blackhole"),
            Kind::DeleteDefinition | Kind::DeleteNamespace | Kind::RevokePermission => Self {
                found: None,
                recovered: Duration::from_secs(60),
                rule: "R8",
            },
            // A rewound server accepts a watch from what will come, and says nothing. Only the
            // comparison finds that (FM-39), within a period and a list (R10, RFX-16).
            Kind::Restore => Self {
                found: None,
                recovered: after(outage) + CHECKED + UNREACHED,
                rule: "R4, R10",
            },
            _ => Self {
                found: None,
                recovered: after(outage),
                rule: "R4",
            },
        }
    }
}

/// R4.
fn after(outage: Duration) -> Duration {
    Duration::from_secs(match outage.as_millis() {
        0..=5_000 => 3,
        5_001..=60_000 => 35,
        _ => 60,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_outages_may_take_longer() {
        let bound = |seconds| Bound::of(Kind::Cut, Duration::from_secs(seconds)).recovered;
        let seconds = [5, 6, 60, 61].map(|outage| bound(outage).as_secs());
        assert_eq!(seconds, [3, 35, 35, 60]);
        let rewound = Bound::of(Kind::Restore, Duration::from_secs(5)).recovered;
        assert_eq!(rewound.as_secs(), 16);
    }

    #[test]
    fn a_dead_connection_is_found_by_its_kind() {
        let found = |kind| Bound::of(kind, Duration::ZERO).found;
        assert_eq!(found(Kind::Reset), Some(Duration::from_secs(1)));
        assert_eq!(found(Kind::HalfOpen), Some(Duration::from_secs(45)));
        assert_eq!(found(Kind::Blackhole), Some(Duration::from_secs(20)));
        assert_eq!(found(Kind::Kill), None);
    }
}
