//! What the run has shown, for people to read.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::recovery::Case;

/// The cases, one line for each kind of outage and bound.
pub(crate) struct Table<'a>(pub(crate) &'a [Case]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<18} {:>5} {:>13} {:>15} {:>17} {:>6} {:<12} {:>5} {:>7} {:>9}  verdict",
            "outage",
            "times",
            "seconds",
            "found max/of",
            "recovery med/max",
            "of",
            "rule",
            "LISTs",
            "watches",
            "mismatch"
        )?;
        let mut rows: BTreeMap<_, Vec<&Case>> = BTreeMap::new();
        for case in self.0 {
            rows.entry((case.kind, case.bound)).or_default().push(case);
        }
        for ((kind, bound), cases) in rows {
            let times = |of: fn(&Case) -> Duration| sorted(cases.iter().map(|case| of(case)));
            let (lengths, recovered) = (times(|case| case.length), times(|case| case.recovered));
            let found = bound.found.map_or_else(String::new, |limit| {
                let found = sorted(cases.iter().filter_map(|case| case.found));
                format!("{:.1}/{}", last(&found), limit.as_secs())
            });
            let sum = |of: fn(&Case) -> u64| cases.iter().map(|case| of(case)).sum::<u64>();
            let failures = cases.iter().filter(|case| case.failure.is_some()).count();
            writeln!(
                f,
                "{:<18} {:>5} {:>13} {:>15} {:>17} {:>6} {:<12} {:>5} {:>7} {:>9}  {}",
                kind.name(),
                cases.len(),
                format!(
                    "{:.1}-{:.1}",
                    lengths.first().unwrap_or(&0.0),
                    last(&lengths)
                ),
                found,
                format!(
                    "{:.2}/{:.2}",
                    recovered[recovered.len() / 2],
                    last(&recovered)
                ),
                bound.recovered.as_secs(),
                bound.rule,
                sum(|case| case.asked.lists),
                sum(|case| case.asked.watches),
                sum(|case| case.asked.mismatches),
                if failures == 0 {
                    "met".to_owned()
                } else {
                    format!("{failures} FAILED")
                },
            )?;
        }
        Ok(())
    }
}

fn sorted(times: impl Iterator<Item = Duration>) -> Vec<f64> {
    let mut seconds: Vec<_> = times.map(|time| time.as_secs_f64()).collect();
    seconds.sort_by(f64::total_cmp);
    seconds
}

fn last(sorted: &[f64]) -> f64 {
    sorted.last().copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bound::Bound;
    use crate::plan::Kind;
    use crate::subject::Asked;

    #[test]
    fn a_failure_is_seen_in_its_line() {
        let case = |recovered, failure: Option<&str>| Case {
            kind: Kind::Kill,
            length: Duration::from_secs(7),
            bound: Bound::of(Kind::Kill, Duration::from_secs(7)),
            found: None,
            recovered: Duration::from_secs(recovered),
            asked: Asked {
                lists: 1,
                watches: 2,
                ..Asked::default()
            },
            failure: failure.map(str::to_owned),
        };
        let cases = [case(1, None), case(40, Some("late")), case(2, None)];
        let text = Table(&cases).to_string();
        let line = text.lines().nth(1).expect("a line for kills");
        for part in ["kill ", " 3 ", "7.0-7.0", "2.00/40.00", " 35 ", "1 FAILED"] {
            assert!(line.contains(part), "{part:?} in {line}");
        }
    }
}
