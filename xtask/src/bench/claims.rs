//! The targets: which figure of which trial, beside which other, and what the ratio has to be.

mod parts;

use super::beside;
use super::cold;
use super::latency;
use super::packed;
use super::plan::MEASURED;
use super::protobuf;
use super::results::Results;

/// A figure of a trial.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure(pub(super) &'static str, pub(super) &'static str);

/// What a ratio has to be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
    /// Anything: the ratio is not judged.
    Shown,
}

/// One target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Claim {
    pub(super) row: &'static str,
    pub(super) what: &'static str,
    ours: Figure,
    other: Figure,
    pub(super) bound: Bound,
}

/// A target with what was measured.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) claim: Claim,
    /// Both figures, if both were measured.
    pub(super) figures: Option<(f64, f64)>,
    /// The same ratio in processor time, less is better: where the clock depends on what else the
    /// machine does, this hardly does.
    pub(super) cpu_ratio: Option<f64>,
    /// For latencies: the greater of the two floors, in microseconds.
    pub(super) floor: Option<f64>,
}

use Bound::{AtLeast, AtMost, Shown};

const OURS: &str = "ours full";
const LEAN: &str = "ours lean";
const PARTIAL: &str = "ours partial";
const MANY: &str = "ours full, many handlers";
const KUBE: &str = "kube-runtime";
const JSON: &str = "client-go json";
const PROTOBUF: &str = "client-go protobuf";
const TENTH: &str = "ours full, a tenth";
const TRIPLE: &str = "ours full, three times";

const WALL: &str = "sync_wall_s";
const CPU: &str = "sync_cpu_s";
const STEADY: &str = "sync_steady_rss";
const RATE: &str = "events_per_s";

/// Row, words, ours (trial, figure), the other (trial, figure), target.
pub(super) type Line = (
    &'static str,
    &'static str,
    (&'static str, &'static str),
    (&'static str, &'static str),
    Bound,
);

const LINES: [Line; 24] = [
    (
        "P1",
        "initial sync, full / kube-runtime",
        (OURS, WALL),
        (KUBE, WALL),
        AtMost(0.4),
    ),
    (
        "P1",
        "initial sync, full / client-go JSON",
        (OURS, WALL),
        (JSON, WALL),
        AtMost(0.25),
    ),
    (
        "P1",
        "initial sync, full / client-go protobuf",
        (OURS, WALL),
        (PROTOBUF, WALL),
        AtMost(0.85),
    ),
    (
        "P2",
        "initial sync, lean / kube-runtime",
        (LEAN, WALL),
        (KUBE, WALL),
        AtMost(0.25),
    ),
    (
        "P2",
        "initial sync, lean / client-go protobuf",
        (LEAN, WALL),
        (PROTOBUF, WALL),
        AtMost(0.55),
    ),
    (
        "P3",
        "CPU of the initial sync / of a bare decode loop",
        (OURS, CPU),
        ("bare decode", CPU),
        AtMost(1.25),
    ),
    (
        "P4",
        "memory, full / kube-runtime",
        (OURS, STEADY),
        (KUBE, STEADY),
        AtMost(0.9),
    ),
    (
        "P4",
        "memory, lean / client-go protobuf",
        (LEAN, STEADY),
        (PROTOBUF, STEADY),
        AtMost(1.0),
    ),
    (
        "P4",
        "memory, lean / client-go JSON",
        (LEAN, STEADY),
        (JSON, STEADY),
        AtMost(1.0),
    ),
    // Settled is after client-go gave back what it does not use, which no program of users does.
    (
        "P4",
        "memory as the sync ends, lean / client-go protobuf",
        (LEAN, "sync_rss"),
        (PROTOBUF, "sync_rss"),
        AtMost(1.0),
    ),
    (
        "P4",
        "memory as the sync ends, eight fields / client-go protobuf",
        (PARTIAL, "sync_rss"),
        (PROTOBUF, "sync_rss"),
        AtMost(0.2),
    ),
    (
        "P4",
        "memory, eight fields / client-go protobuf",
        (PARTIAL, STEADY),
        (PROTOBUF, STEADY),
        AtMost(0.2),
    ),
    (
        "P5",
        "peak / steady memory, first list",
        (OURS, "sync_peak_rss"),
        (OURS, STEADY),
        AtMost(1.10),
    ),
    (
        "P5",
        "peak / steady memory, relist with 1 % changed",
        (OURS, "relist_peak_rss"),
        (OURS, "before_relist_steady_rss"),
        AtMost(1.05),
    ),
    (
        "P6",
        "CPU of that relist / of the initial sync",
        (OURS, "relist_cpu_s"),
        (OURS, CPU),
        AtMost(0.25),
    ),
    (
        "P7",
        "events/s, full / kube-runtime",
        (OURS, RATE),
        (KUBE, RATE),
        AtLeast(2.5),
    ),
    (
        "P7",
        "events/s, lean / client-go protobuf",
        (LEAN, RATE),
        (PROTOBUF, RATE),
        AtLeast(1.3),
    ),
    (
        "P8",
        "events/s, many handlers / one",
        (MANY, RATE),
        (OURS, RATE),
        AtLeast(0.7),
    ),
    (
        "P8",
        "events/s, many handlers / kube-runtime",
        (MANY, RATE),
        ("kube-runtime, many handlers", RATE),
        AtLeast(2.5),
    ),
    (
        "P14",
        "time per object, a tenth to three times",
        (TRIPLE, "sync_wall_us_per_object"),
        (TENTH, "sync_wall_us_per_object"),
        AtMost(1.2),
    ),
    (
        "P14",
        "CPU per object, a tenth to three times",
        (TRIPLE, "sync_cpu_us_per_object"),
        (TENTH, "sync_cpu_us_per_object"),
        AtMost(1.2),
    ),
    (
        "P14",
        "memory per object, a tenth to three times",
        (TRIPLE, "rss_per_object"),
        (TENTH, "rss_per_object"),
        AtMost(1.2),
    ),
    (
        "P1",
        "initial sync by watch-list / kube-runtime's",
        ("ours full, watch-list", WALL),
        ("kube-runtime, watch-list", WALL),
        AtMost(0.4),
    ),
    (
        "P1",
        "initial sync by watch-list / client-go protobuf's",
        ("ours full, watch-list", WALL),
        ("client-go protobuf, watch-list", WALL),
        AtMost(0.85),
    ),
];

/// Every target there is.
fn lines() -> impl Iterator<Item = &'static Line> {
    let all = LINES.iter().chain(&parts::LINES);
    let all = all
        .chain(&latency::TARGETS)
        .chain(&beside::TARGETS)
        .chain(&packed::TARGETS);
    all.chain(&protobuf::TARGETS).chain(&cold::TARGETS)
}

/// Every target of these rows with its figures; no rows means all.
pub(super) fn judge(results: &Results, rows: &[String]) -> Vec<Judged> {
    let wanted = |row: &str| rows.is_empty() || rows.iter().any(|asked| asked == row);
    let mut judged: Vec<Judged> = lines()
        .filter(|line| wanted(line.0))
        .map(|&(row, what, ours, other, bound)| {
            let (ours, other) = (Figure(ours.0, ours.1), Figure(other.0, other.1));
            let claim = Claim {
                row,
                what,
                ours,
                other,
                bound,
            };
            let figures = claim.figures(results);
            Judged {
                claim,
                figures,
                cpu_ratio: claim.cpu_ratio(results),
                floor: claim.floor(results),
            }
        })
        .collect();
    let order = |row: &str| MEASURED.iter().position(|measured| *measured == row);
    judged.sort_by_key(|judged| order(judged.claim.row));
    judged
}

impl Claim {
    fn figures(&self, results: &Results) -> Option<(f64, f64)> {
        let median = |Figure(trial, figure)| results.median(trial, figure);
        Some((median(self.ours)?, median(self.other)?))
    }

    fn cpu_ratio(&self, results: &Results) -> Option<f64> {
        let cpu = |Figure(trial, figure)| {
            let cpu = match figure {
                WALL => CPU.to_owned(),
                RATE => "events_cpu_us".to_owned(),
                _ => format!("{}_cpu_ns", figure.strip_suffix("_ns")?),
            };
            results.median(trial, &cpu)
        };
        Some(cpu(self.ours)? / cpu(self.other)?)
    }

    /// The greater of the medians of the two floors.
    fn floor(&self, results: &Results) -> Option<f64> {
        let floor = |Figure(trial, figure)| {
            let floor = latency::floor_of(figure)?;
            results.median(trial, floor)
        };
        Some(floor(self.ours)?.max(floor(self.other)?))
    }

    fn is_latency(&self) -> bool {
        latency::floor_of(self.ours.1).is_some()
    }
}

impl Judged {
    /// Ours over the other.
    pub(super) fn ratio(&self) -> Option<f64> {
        self.figures.map(|(ours, other)| ours / other)
    }

    pub(super) fn verdict(&self) -> &'static str {
        if let (Some((ours, other)), true) = (self.figures, self.claim.is_latency()) {
            match self.floor {
                None => return "not measured",
                Some(floor) if !latency::is_measurable(floor, ours.min(other)) => {
                    return "not measurable here";
                }
                Some(_) => {}
            }
        }
        match (self.ratio(), self.claim.bound) {
            (None, _) => "not measured",
            (Some(_), Shown) => "shown, not judged",
            (Some(ratio), AtMost(bound)) if ratio <= bound => "met",
            (Some(ratio), AtLeast(bound)) if ratio >= bound => "met",
            _ => "NOT MET",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::trial::Metrics;

    fn verdicts(ours: f64, peer: f64) -> Vec<(&'static str, &'static str)> {
        let mut results = Results::default();
        let figures = |value| Metrics::from([(RATE.to_owned(), value), (WALL.to_owned(), value)]);
        results.add(OURS, figures(ours));
        results.add(KUBE, figures(peer));
        let rows = ["P7".to_owned(), "P1".to_owned()];
        let judged = judge(&results, &rows);
        judged
            .iter()
            .filter(|judged| judged.figures.is_some())
            .map(|judged| (judged.claim.row, judged.verdict()))
            .collect()
    }

    #[test]
    fn less_is_better_for_time_and_more_for_rates() {
        assert_eq!(verdicts(1.0, 4.0), [("P1", "met"), ("P7", "NOT MET")]);
        assert_eq!(verdicts(4.0, 1.0), [("P1", "NOT MET"), ("P7", "met")]);
    }

    #[test]
    fn what_was_not_measured_is_neither_met_nor_missed() {
        let judged = judge(&Results::default(), &[]);
        assert_eq!(judged.len(), lines().count());
        assert!(judged.iter().all(|one| one.verdict() == "not measured"));
    }

    #[test]
    fn every_measured_row_has_a_target() {
        for row in MEASURED {
            let is_judged = |line: &Line| line.0 == row && !matches!(line.4, Shown);
            assert!(lines().any(is_judged), "{row}");
        }
    }

    #[test]
    fn what_is_only_shown_is_not_judged() {
        let mut results = Results::default();
        let figures = Metrics::from([(WALL.to_owned(), 2.0)]);
        results.add("ours packed, cold", figures.clone());
        results.add("kube-runtime, cold", figures);
        let judged = judge(&results, &["PK1".to_owned()]);
        let measured: Vec<&Judged> = judged.iter().filter(|one| one.figures.is_some()).collect();
        assert_eq!(measured.len(), 1);
        assert_eq!(measured[0].ratio(), Some(1.0));
        assert_eq!(measured[0].verdict(), "shown, not judged");
    }
}
