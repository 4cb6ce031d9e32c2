//! Compares the two sides.

use std::collections::BTreeMap;
use std::fmt;

use crate::level::{Level, Run};
use crate::rules::rules_of;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// How a comparison ended.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Which rules changed client-go's trace, by row and name, and in how many runs.
    pub fired: BTreeMap<(&'static str, &'static str), usize>,
    /// What no rule explains.
    pub differences: Vec<Difference>,
}

/// A run of ours that is not what the rules make of client-go's.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Which of our ways.
    pub way: &'static str,
    /// What client-go did, before any rule.
    pub theirs: Trace,
    /// What ours should have been.
    pub expected: Trace,
    /// What ours was.
    pub ours: Trace,
}

/// Compares our runs with client-go's trace.
///
/// # Panics
///
/// Without a run there is nothing to compare, and no agreement either.
pub fn compare(level: Level, scenario: &Scenario, theirs: &Trace, runs: &[Run]) -> Verdict {
    assert!(
        !runs.is_empty(),
        "{level}: ours did not run {}",
        scenario.name
    );
    let mut verdict = Verdict::default();
    for run in runs {
        let mut expected = theirs.clone();
        for rule in rules_of(level) {
            let after = (rule.apply)(scenario, run.way, expected.clone());
            if after != expected {
                *verdict.fired.entry((rule.row, rule.name)).or_default() += 1;
            }
            expected = after;
        }
        if expected != run.trace {
            verdict.differences.push(Difference {
                way: run.way,
                theirs: theirs.clone(),
                expected,
                ours: run.trace.clone(),
            });
        }
    }
    verdict
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = if self.way.is_empty() {
            "ours"
        } else {
            self.way
        };
        writeln!(f, "   {:<58} {:<58}", "client-go, after the rules", way)?;
        let (theirs, ours) = (self.expected.lines(), self.ours.lines());
        for (left, right) in aligned(theirs, ours) {
            let mark = if left == right { ' ' } else { '!' };
            let cell = |line: Option<&String>| line.map_or("", String::as_str).to_owned();
            writeln!(f, " {mark} {:<58} {:<58}", cell(left), cell(right))?;
        }
        if self.theirs != self.expected {
            writeln!(f, "   client-go, before the rules:")?;
            let lines = self.theirs.lines().iter();
            lines
                .into_iter()
                .try_for_each(|line| writeln!(f, "     {line}"))?;
        }
        Ok(())
    }
}

type Row<'a> = (Option<&'a String>, Option<&'a String>);

/// Both sides beside each other, equal lines in one row: the longest common subsequence.
fn aligned<'a>(left: &'a [String], right: &'a [String]) -> Vec<Row<'a>> {
    let mut common = vec![vec![0_usize; right.len() + 1]; left.len() + 1];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            common[i][j] = if left[i] == right[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut rows) = (0, 0, Vec::new());
    while i < left.len() || j < right.len() {
        if i < left.len() && j < right.len() && left[i] == right[j] {
            rows.push((Some(&left[i]), Some(&right[j])));
            (i, j) = (i + 1, j + 1);
        } else if j == right.len() || (i < left.len() && common[i + 1][j] >= common[i][j + 1]) {
            rows.push((Some(&left[i]), None));
            i += 1;
        } else {
            rows.push((None, Some(&right[j])));
            j += 1;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_stand_side_by_side() {
        let lines = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let (left, right) = (lines("a b c"), lines("a c d"));
        let shown: Vec<(&str, &str)> = aligned(&left, &right)
            .iter()
            .map(|(l, r)| (l.map_or("", String::as_str), r.map_or("", String::as_str)))
            .collect();
        assert_eq!(shown, [("a", "a"), ("b", ""), ("c", "c"), ("", "d")]);
    }
}
