//! D-50: a transform that takes the version away hides no change.
//!
//! client-go reads the version from the stored object: without one every update looks like a
//! resync and is kept from those who are not due, and the store has no version. Ours is kept
//! beside the object.

use super::history::History;
use super::member::{members, start_of, stop_of};
use super::observed::{in_order, observed, trace_of};
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const RULE: Rule = Rule {
    row: "D-50",
    name: "versions survive a transform",
    apply,
};

fn apply(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    if scenario.setting("transform") != Some("blank") {
        return trace;
    }
    let Some(history) = History::of(scenario) else {
        return trace;
    };
    let mut steps = observed(scenario, &trace);
    let (start, stop) = (start_of(scenario), stop_of(scenario));
    for event in &history.events {
        if event.step <= start || event.step >= stop.min(steps.len()) {
            continue;
        }
        let lines = &mut steps[event.step].lines;
        lines.retain(|line| !line.starts_with("version "));
        lines.push(format!("version {}", event.version));
        let here = members(scenario).into_iter();
        for member in here.filter(|one| one.joined < event.step && event.step < one.left) {
            let line = event.told(member.name);
            if line.contains(" update ") && !lines.contains(&line) {
                lines.push(line);
            }
        }
        in_order(lines);
    }
    trace_of(steps, trace)
}
