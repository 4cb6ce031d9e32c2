//! Where the time of a run went, and how its parts ended.

use std::time::{Duration, Instant};

use crate::clock;

/// How one part of a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// As it should.
    Passed,
    /// Not as it should; the reason was printed where it happened.
    Failed,
    /// It could not be run here, for this reason.
    Skipped(String),
}

/// The parts of one run, in order.
#[derive(Debug, Default)]
pub(crate) struct Report {
    parts: Vec<(String, Outcome, Duration)>,
}

impl Report {
    /// Notes that the part `name`, begun at `start`, has just ended with `outcome`.
    pub(crate) fn note(&mut self, name: &str, outcome: Outcome, start: Instant) {
        if let Outcome::Skipped(reason) = &outcome {
            println!("{name}: skipped ({reason})");
        }
        self.parts
            .push((name.to_owned(), outcome, clock::now().duration_since(start)));
    }

    /// Whether nothing failed.
    pub(crate) fn is_good(&self) -> bool {
        self.parts
            .iter()
            .all(|(_, outcome, _)| *outcome != Outcome::Failed)
    }

    /// Whether the part `name` has ended.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.parts.iter().any(|(part, _, _)| part == name)
    }

    /// The time split, and a closing line that counts the outcomes.
    pub(crate) fn summary(&self) -> String {
        let mut text = String::new();
        // Where nothing ran, no time was spent, and the reason has been printed.
        let skipped = |outcome: &Outcome| matches!(outcome, Outcome::Skipped(_));
        let all_skipped = self.parts.iter().all(|(_, outcome, _)| skipped(outcome));
        let shown = if all_skipped { &[] } else { &self.parts[..] };
        for (name, outcome, time) in shown {
            let outcome = match outcome {
                Outcome::Passed => "passed",
                Outcome::Failed => "FAILED",
                Outcome::Skipped(_) => "skipped",
            };
            text.push_str(&format!(
                "{name:<24} {outcome:<8} {:>8.1} s\n",
                time.as_secs_f64()
            ));
        }
        let count = |wanted: fn(&Outcome) -> bool| {
            self.parts
                .iter()
                .filter(|(_, outcome, _)| wanted(outcome))
                .count()
        };
        let passed = count(|outcome| *outcome == Outcome::Passed);
        let failed = count(|outcome| *outcome == Outcome::Failed);
        let skipped = count(|outcome| matches!(outcome, Outcome::Skipped(_)));
        text.push_str(&format!(
            "{passed} passed, {failed} failed, {skipped} skipped"
        ));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_counts_every_outcome_on_a_line_of_its_own() {
        let mut report = Report::default();
        let start = clock::now();
        report.note("fmt", Outcome::Passed, start);
        report.note("wasm", Outcome::Skipped("no such target".to_owned()), start);
        assert!(report.is_good());
        report.note("test", Outcome::Failed, start);
        assert!(!report.is_good());
        let summary = report.summary();
        assert_eq!(
            summary.lines().last(),
            Some("1 passed, 1 failed, 1 skipped")
        );
        assert_eq!(summary.lines().count(), 4, "{summary}");
    }

    #[test]
    fn a_run_that_was_skipped_has_a_closing_line_only() {
        let mut report = Report::default();
        report.note("e2e", Outcome::Skipped("no Go".to_owned()), clock::now());
        assert_eq!(report.summary(), "0 passed, 0 failed, 1 skipped");
    }
}
