//! P11 and PK7: the 99th percentile of latency, beside the floor of the machine.
//!
//! A virtual machine whose host runs something else stops for longer than a fast program takes. So
//! latency is measured for long and often, and each driver has an idle thread that reports how late
//! it wakes meanwhile. Where this floor exceeds a third of a percentile, the percentile is a
//! property of the machine, and the row is neither met nor missed.

use super::claims::Bound::AtMost;
use super::claims::Line as Target;
use super::plan::Course::Latency;
use super::plan::Line as Trial;
use super::programs::Program::{ClientGo, KubeRuntime, Ours};

/// The number of handlers.
pub(super) const HANDLERS: u64 = 10;
/// The number of changes a second.
pub(super) const RATE: u64 = 5_000;

/// The number of runs, whatever the number of rounds, and the seconds of each.
const PROTOCOL: (usize, u64) = (7, 30);
const QUICK_PROTOCOL: (usize, u64) = (1, 5);

/// The figure that is compared.
pub(super) const PERCENTILE_99: &str = "latency_p99_us";
/// The figure of the same run that it has to exceed three times.
const FLOOR: &str = "floor_p99_us";

const OURS: &str = "ours full, latency";
pub(super) const CLIENT_GO: &str = "client-go protobuf, latency";

/// The number of runs, and for how many seconds each measures.
pub(super) fn protocol(is_quick: bool) -> (usize, u64) {
    match is_quick {
        true => QUICK_PROTOCOL,
        false => PROTOCOL,
    }
}

/// The floor of a figure, if it is a latency that has one.
pub(super) fn floor_of(figure: &str) -> Option<&'static str> {
    (figure == PERCENTILE_99).then_some(FLOOR)
}

/// Whether the floor is at most a third of the percentile.
pub(super) fn is_measurable(floor: f64, p99: f64) -> bool {
    floor * 3.0 <= p99
}

pub(super) const TRIALS: [Trial; 4] = [
    (OURS, Ours, "full", "list", Latency, &["P11"]),
    (
        "kube-runtime, latency",
        KubeRuntime,
        "full",
        "list",
        Latency,
        &["P11"],
    ),
    (
        CLIENT_GO,
        ClientGo,
        "protobuf",
        "list",
        Latency,
        &["P11", "PK7"],
    ),
    (
        "client-go json, latency",
        ClientGo,
        "json",
        "list",
        Latency,
        &["P11"],
    ),
];

pub(super) const TARGETS: [Target; 1] = [(
    "P11",
    "latency p99, 10 handlers / client-go protobuf",
    (OURS, PERCENTILE_99),
    (CLIENT_GO, PERCENTILE_99),
    AtMost(8.0),
)];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::claims::judge;
    use crate::bench::results::Results;
    use crate::bench::trial::Metrics;

    /// The verdict on P11 with a latency and a floor of ours and of client-go.
    fn verdict(ours: (f64, Option<f64>), peer: (f64, Option<f64>)) -> &'static str {
        let mut results = Results::default();
        for (name, (p99, floor)) in [(OURS, ours), (CLIENT_GO, peer)] {
            let floor = floor.map(|floor| (FLOOR.to_owned(), floor));
            let figures = [(PERCENTILE_99.to_owned(), p99)].into_iter().chain(floor);
            results.add(name, Metrics::from_iter(figures));
        }
        let judged = judge(&results, &["P11".to_owned()]);
        judged[0].verdict()
    }

    #[test]
    fn a_floor_above_a_third_of_either_percentile_is_not_measurable() {
        let low = Some(100.0);
        assert_eq!(verdict((2_000.0, low), (400.0, low)), "met");
        assert_eq!(verdict((4_000.0, low), (400.0, low)), "NOT MET");
        let high = Some(140.0);
        assert_eq!(
            verdict((2_000.0, high), (400.0, low)),
            "not measurable here"
        );
        assert_eq!(
            verdict((2_000.0, low), (400.0, high)),
            "not measurable here"
        );
        assert_eq!(
            verdict((400.0, high), (9_000.0, low)),
            "not measurable here"
        );
        assert_eq!(
            verdict((9_000.0, high), (400.0, low)),
            "not measurable here"
        );
    }

    #[test]
    fn a_latency_without_its_floor_is_not_measured() {
        assert_eq!(verdict((400.0, None), (400.0, Some(1.0))), "not measured");
    }

    #[test]
    fn quick_runs_are_short_and_single() {
        assert_eq!(protocol(false), (7, 30));
        assert_eq!(protocol(true), (1, 5));
    }
}
