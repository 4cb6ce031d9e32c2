//! D-51: a resync keeps its schedule, whatever is listed meanwhile.
//!
//! client-go's timer begins anew with each relist, so that relists more frequent than the period
//! leave no resync at all.

use std::time::Duration;

use super::member::{members, start_of};
use super::observed::{in_order, observed, trace_of};
use super::told::Told;
use crate::informer::settings::duration;
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const RULE: Rule = Rule {
    row: "D-51",
    name: "a relist does not put a resync off",
    apply,
};

fn apply(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let period = scenario.setting("resync").and_then(duration);
    let Some(period) = period.filter(|period| !period.is_zero()) else {
        return trace;
    };
    let mut steps = observed(scenario, &trace);
    let start = start_of(scenario);
    let (mut passed, mut was_listed) = (Duration::ZERO, false);
    let mut stored = Vec::new();
    for (index, one) in steps.iter_mut().enumerate().skip(start) {
        was_listed |= index > start && one.has_relist();
        if one.step.verb == "advance" {
            let due = passed.as_nanos() / period.as_nanos();
            passed += duration(&one.step.args.join(" ")).unwrap_or_default();
            let is_due = passed.as_nanos() / period.as_nanos() > due;
            let told = |line: &String| Told::parse(line).is_some_and(|told| told.is_repetition());
            if is_due && was_listed && !one.lines.iter().any(told) {
                let here = members(scenario).into_iter();
                for member in here.filter(|member| member.joined < index && index < member.left) {
                    let reminder =
                        |text: &String| format!("{} update {text} -> {text}", member.name);
                    one.lines.extend(stored.iter().map(reminder));
                }
                in_order(&mut one.lines);
            }
        }
        if let Some(store) = one
            .lines
            .iter()
            .find_map(|line| line.strip_prefix("store "))
        {
            stored = store.split_whitespace().map(str::to_owned).collect();
        }
    }
    trace_of(steps, trace)
}
