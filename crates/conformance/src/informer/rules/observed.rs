//! A trace step by step, each beside the step of the scenario it belongs to.

use crate::scenario::{Scenario, Step};
use crate::trace::Trace;

/// What was observed in one step.
pub(super) struct Observed<'a> {
    pub(super) step: &'a Step,
    heading: String,
    pub(super) lines: Vec<String>,
}

/// The steps; none if the trace is not of this scenario.
pub(super) fn observed<'a>(scenario: &'a Scenario, trace: &Trace) -> Vec<Observed<'a>> {
    let steps = trace.steps();
    if steps.len() != scenario.steps.len() {
        return Vec::new();
    }
    let both = scenario.steps.iter().zip(steps);
    both.map(|(step, mut lines)| Observed {
        step,
        heading: lines.remove(0),
        lines,
    })
    .collect()
}

/// The trace they make; the old one if there are none.
pub(super) fn trace_of(steps: Vec<Observed<'_>>, before: Trace) -> Trace {
    if steps.is_empty() {
        return before;
    }
    let lines = steps.into_iter().flat_map(|one| {
        let mut lines = vec![one.heading];
        lines.extend(one.lines);
        lines
    });
    Trace::new(lines.collect())
}

/// Changes each step for itself, in their order.
pub(super) fn each_step(
    scenario: &Scenario,
    trace: Trace,
    mut change: impl FnMut(&Step, &mut Vec<String>),
) -> Trace {
    let mut steps = observed(scenario, &trace);
    for one in &mut steps {
        change(one.step, &mut one.lines);
    }
    trace_of(steps, trace)
}

impl Observed<'_> {
    /// Whether a whole collection was fetched, as far as requests are written.
    pub(super) fn has_relist(&self) -> bool {
        let mut lines = self.lines.iter();
        lines.any(|line| is_relist(line))
    }
}

/// A list, or a stream that begins with a state.
pub(super) fn is_relist(line: &str) -> bool {
    line.starts_with("request ")
        && (line.contains("sendInitialEvents=true") || !line.contains("watch=true"))
}

/// Where in a step a line stands: what handlers were told by name, then the rest in its order.
pub(super) fn rank(line: &str) -> u8 {
    let first = line.split(' ').next().unwrap_or_default();
    match first {
        "request" => 1,
        "failure" => 2,
        "error" | "get" | "index" => 3,
        "store" => 4,
        "version" => 5,
        "synced" => 6,
        "stopped" => 8,
        _ if line.ends_with(" synced") => 7,
        _ => 0,
    }
}

/// Brings lines into the order of a trace; those of one handler keep theirs.
pub(super) fn in_order(lines: &mut [String]) {
    lines.sort_by(|a, b| {
        let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        let by_name = |line: &str| match rank(line) {
            0 | 7 => name(line),
            _ => String::new(),
        };
        (rank(a), by_name(a)).cmp(&(rank(b), by_name(b)))
    });
}
