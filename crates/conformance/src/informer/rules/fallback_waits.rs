//! D-63: a streaming list that fails in a way a list would meet, too, is not followed by a list at
//! once, but after the back-off.

use super::met::{Asked, Met, met};
use super::observed::{Observed, in_order, observed, rank, trace_of};
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const RULE: Rule = Rule {
    row: "D-63",
    name: "the list after a failed stream waits",
    apply,
};

/// What a list would meet as well: the server is unwell, or does not want us.
const MET_BY_LISTS: [&str; 6] = ["401", "403", "404", "500", "503", "504"];

fn apply(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let failed = met(&steps).into_iter().find(waits);
    if let Some(failed) = failed
        && !lets_time_pass(&steps[failed.step])
        && steps.get(failed.step + 1).is_some_and(lets_time_pass)
    {
        put_off(&mut steps, &failed);
    }
    trace_of(steps, trace)
}

fn waits(met: &Met) -> bool {
    let fault = met.fault.as_deref().unwrap_or_default();
    let status = fault.strip_prefix("error=").unwrap_or(fault);
    let status = status.split('@').next().unwrap_or_default();
    met.asked == Asked::Stream && MET_BY_LISTS.contains(&status)
}

fn lets_time_pass(observed: &Observed<'_>) -> bool {
    matches!(observed.step.verb.as_str(), "recover" | "advance")
}

/// What follows the failed stream in its step happens in the next one.
fn put_off(steps: &mut [Observed<'_>], failed: &Met) {
    let lines = std::mem::take(&mut steps[failed.step].lines);
    let is_before = |number: usize, line: &str| match rank(line) {
        1 => number <= failed.line,
        // What this attempt had to report; what came of the list is later.
        2 => true,
        _ => false,
    };
    let numbered = lines.into_iter().enumerate();
    let (now, later): (Vec<_>, Vec<_>) = numbered.partition(|(n, line)| is_before(*n, line));
    steps[failed.step].lines = now.into_iter().map(|(_, line)| line).collect();
    let next = &mut steps[failed.step + 1].lines;
    let mut later: Vec<String> = later.into_iter().map(|(_, line)| line).collect();
    later.append(next);
    in_order(&mut later);
    *next = later;
}
