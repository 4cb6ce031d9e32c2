//! D-23: each failed attempt is told once, also those inside a watch or a streaming list.

use super::met::{Asked, Met, met};
use super::observed::{Observed, in_order, observed, trace_of};
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const RULE: Rule = Rule {
    row: "D-23",
    name: "every failed attempt is told",
    apply,
};

/// Statuses, and the reasons that belong to them.
const REASONS: [(&str, &str); 13] = [
    ("400", "BadRequest"),
    ("401", "Unauthorized"),
    ("403", "Forbidden"),
    ("404", "NotFound"),
    ("409", "Conflict"),
    ("410", "Expired"),
    ("422", "Invalid"),
    ("429", "TooManyRequests"),
    ("500", "InternalError"),
    ("503", "ServiceUnavailable"),
    ("504", "Timeout"),
    ("too-large", "Timeout"),
    ("gone", "Gone"),
];

fn apply(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    if scenario.setting("failures") != Some("yes") {
        return trace;
    }
    let mut steps = observed(scenario, &trace);
    let mut told: Vec<Vec<String>> = vec![Vec::new(); steps.len()];
    let requests = met(&steps);
    for (number, request) in requests.iter().enumerate() {
        let next = requests
            .get(number + 1)
            .map_or(steps.len(), |next| next.step);
        if let Some((step, reason)) = failure(&steps, request, next) {
            told[step].push(format!("failure {reason}"));
        }
    }
    for (observed, told) in steps.iter_mut().zip(told) {
        let mut theirs = observed
            .lines
            .iter()
            .filter(|line| line.starts_with("failure "));
        if !theirs.all(|line| told.contains(line)) {
            // What client-go told and this rule does not know of is not to be lost.
            continue;
        }
        observed.lines.retain(|line| !line.starts_with("failure "));
        observed.lines.extend(told);
        in_order(&mut observed.lines);
    }
    trace_of(steps, trace)
}

/// In which step a request failed, and how; `next` is the step of the request after it.
fn failure(steps: &[Observed<'_>], met: &Met, next: usize) -> Option<(usize, &'static str)> {
    if let Some(fault) = &met.fault {
        if let Some(reason) = reason_of(fault) {
            return Some((met.step, reason));
        }
        if matches!(fault.as_str(), "close@0" | "cut@0") {
            return Some((met.step, "other"));
        }
        let (status, after) = in_stream(fault)?;
        return Some((event_number(steps, met, after)?, reason_of(status)?));
    }
    if matches!(met.asked, Asked::List | Asked::Page) {
        return None;
    }
    // A stream that is open fails in the step that ends it.
    let open = met.step + 1..steps.len().min(next + 1);
    open.into_iter()
        .find_map(|index| match steps[index].step.verb.as_str() {
            "expire" => Some((index, "Expired")),
            "cut" | "close" => Some((index, "other")),
            _ => None,
        })
}

fn reason_of(fault: &str) -> Option<&'static str> {
    if matches!(fault, "refuse" | "reset" | "garbage" | "table") {
        return Some("other");
    }
    let reason = REASONS.iter().find(|(status, _)| *status == fault);
    reason.map(|(_, reason)| *reason)
}

/// `error=500@2`: the status, and after how many events it comes.
fn in_stream(fault: &str) -> Option<(&str, usize)> {
    let status = fault.strip_prefix("error=")?;
    match status.split_once('@') {
        Some((status, after)) => Some((status, after.parse().ok()?)),
        None => Some((status, 0)),
    }
}

/// The step in which a stream has told so many events.
fn event_number(steps: &[Observed<'_>], met: &Met, after: usize) -> Option<usize> {
    if after == 0 || met.asked == Asked::Stream {
        return Some(met.step);
    }
    let is_write = |verb: &str| matches!(verb, "create" | "update" | "delete");
    let writes = (met.step + 1..steps.len()).filter(|&index| is_write(&steps[index].step.verb));
    writes.into_iter().nth(after - 1)
}
