//! D-58: the end of an informer waits for callbacks, and for nothing else.
//!
//! client-go waits for the delay before a stream is tried again, too (RL-31).

use super::member::{members, stop_of};
use super::observed::{Observed, observed, trace_of};
use super::told::Told;
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const RULE: Rule = Rule {
    row: "D-58",
    name: "no delay holds up the end",
    apply,
};

fn apply(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let mut asked = scenario.steps.iter().filter(|step| step.verb == "fault");
    let is_waiting = asked.any(|step| {
        let args: Vec<&str> = step.args.iter().map(String::as_str).collect();
        matches!(args[..], ["stream", "429" | "refuse", ..])
    });
    if is_waiting {
        end_at_once(scenario, &mut steps);
    }
    trace_of(steps, trace)
}

/// Ends in the step that stops, or that lets the last callback return.
pub(super) fn end_at_once(scenario: &Scenario, steps: &mut [Observed<'_>]) {
    let stop = stop_of(scenario);
    if stop >= steps.len() {
        return;
    }
    let is_told = |name: &str| {
        let mut lines = steps[..stop].iter().flat_map(|one| &one.lines);
        lines.any(|line| Told::parse(line).is_some_and(|told| told.handler == name))
    };
    let mut ended = Some(stop);
    for member in members(scenario) {
        let is_released = member.unblocked.is_some_and(|at| at <= stop);
        if member.is_blocked && !is_released && is_told(member.name) {
            let released = member.unblocked.filter(|at| *at < steps.len());
            ended = ended.zip(released).map(|(one, other)| one.max(other));
        }
    }
    for one in &mut steps[stop..] {
        one.lines.retain(|line| line != "stopped");
    }
    if let Some(ended) = ended {
        steps[ended].lines.push("stopped".to_owned());
    }
}
