//! D-21 and D-56: what client-go does at once and ours after a delay.
//!
//! What happened is the same, in a later step: the next in which time passes.

use std::time::Duration;

use super::observed::{Observed, in_order, is_relist, observed, rank, trace_of};
use crate::informer::settings::duration;
use crate::rules::Rule;
use crate::scenario::{Scenario, Step};
use crate::trace::Trace;

pub(super) const REOPENED: Rule = Rule {
    row: "D-21",
    name: "the second early close is a failure",
    apply: reopened,
};

pub(super) const FALLEN_BACK: Rule = Rule {
    row: "D-56",
    name: "no list on top of a server that fails",
    apply: fallen_back,
};

/// A watch that ends before this is a failed attempt.
const SHORT: Duration = Duration::from_secs(30);
/// One that lives for so long lets the next early close be the first again.
const HEALTHY: Duration = Duration::from_secs(120);

fn reopened(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let (mut lived, mut closed) = (Duration::ZERO, 0);
    for index in 0..steps.len() {
        let step = steps[index].step;
        match step.verb.as_str() {
            "advance" => lived += duration(&step.args.join(" ")).unwrap_or_default(),
            "close" | "cut" => {
                closed = if lived >= HEALTHY { 0 } else { closed };
                let is_cut = step.verb == "cut";
                if lived < SHORT || is_cut {
                    closed += usize::from(!is_cut);
                    let is_reopened = steps[index].lines.iter().any(|line| is_rewatch(line));
                    if is_reopened && (closed > 1 || is_cut) {
                        postpone(&mut steps, index, 0);
                    }
                }
                lived = Duration::ZERO;
            }
            "expire" | "recover" | "start" => lived = Duration::ZERO,
            _ => {}
        }
    }
    trace_of(steps, trace)
}

fn is_rewatch(line: &str) -> bool {
    line.starts_with("request ") && !is_relist(line)
}

/// Statuses that a list would be answered with as well.
const OF_THE_SERVER: [&str; 6] = ["401", "403", "404", "500", "503", "504"];

fn is_failing_stream(step: &Step) -> bool {
    let [request, what, ..] = step.args.as_slice() else {
        return false;
    };
    let status = what.strip_prefix("error=").unwrap_or(what);
    let status = status.split('@').next().unwrap_or_default();
    step.verb == "fault" && request == "stream" && OF_THE_SERVER.contains(&status)
}

fn fallen_back(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let mut is_failing = false;
    for index in 0..steps.len() {
        is_failing |= is_failing_stream(steps[index].step);
        let lines = &steps[index].lines;
        let streamed = lines
            .iter()
            .position(|line| line.contains("sendInitialEvents=true"));
        let Some(streamed) = streamed.filter(|_| is_failing) else {
            continue;
        };
        is_failing = false;
        if steps[index].step.verb == "start" {
            postpone(&mut steps, index, streamed + 1);
        }
    }
    trace_of(steps, trace)
}

/// Moves what was observed from a line of a step on, what handlers were told included, to the
/// next step in which time passes. Of states only the last is seen then.
fn postpone(steps: &mut [Observed<'_>], index: usize, from: usize) {
    let waits = |one: &Observed<'_>| matches!(one.step.verb.as_str(), "advance" | "recover");
    let until = steps[index + 1..]
        .iter()
        .position(waits)
        .map(|at| index + 1 + at);
    let mut moved: Vec<String> = Vec::new();
    for (at, one) in steps.iter_mut().enumerate().skip(index) {
        if at >= until.unwrap_or(usize::MAX) {
            break;
        }
        let lines = std::mem::take(&mut one.lines);
        for (position, line) in lines.into_iter().enumerate() {
            let is_before = at == index && position < from && line.starts_with("request ");
            if is_before || rank(&line) == 3 {
                one.lines.push(line);
            } else {
                moved.push(line);
            }
        }
    }
    let Some(until) = until else {
        return;
    };
    moved.append(&mut steps[until].lines);
    let is_state = |line: &String, word: &str| line.starts_with(word);
    for word in ["store ", "version "] {
        let last = moved.iter().rposition(|line| is_state(line, word));
        let mut position = 0;
        moved.retain(|line| {
            position += 1;
            !is_state(line, word) || Some(position - 1) == last
        });
    }
    in_order(&mut moved);
    steps[until].lines = moved;
}
