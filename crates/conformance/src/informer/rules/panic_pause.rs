//! D-15: after a panic in a handler the next item follows at once, and the sync count is settled.
//!
//! client-go waits for a second before the next item, and a handler that panicked in an initial
//! add never becomes synced. What it told later, and would have told had time passed, is told in
//! the step that caused it. What client-go did tell must agree, or the trace stays as it is.

use super::history::History;
use super::member::{Member, members, start_of, stop_of};
use super::observed::{Observed, in_order, observed, trace_of};
use super::told::Told;
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const RULE: Rule = Rule {
    row: "D-15",
    name: "no pause after a panic",
    apply,
};

fn apply(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let Some(history) = History::of(scenario) else {
        return trace;
    };
    for member in members(scenario) {
        if member.panics.is_some() && !member.is_blocked {
            let end = member.left.min(stop_of(scenario)).min(steps.len());
            let begin = member.joined.max(start_of(scenario)).min(end);
            without_pause(&mut steps[begin..end], begin, &member, &history);
        }
    }
    trace_of(steps, trace)
}

fn without_pause(steps: &mut [Observed<'_>], begin: usize, member: &Member<'_>, history: &History) {
    let told: Vec<Vec<String>> = steps.iter().map(|one| told_to(member, one)).collect();
    let panicked = format!("{} panic ", member.name);
    let is_panic = |lines: &Vec<String>| lines.iter().any(|line| line.starts_with(&panicked));
    let Some(first) = told.iter().position(is_panic) else {
        return;
    };
    let mut expected: Vec<Vec<String>> = vec![Vec::new(); steps.len()];
    expected[first].clone_from(&told[first]);
    let rest = told[first + 1..].iter().flatten();
    let of_initial = initial(rest);
    let was_initial = !of_initial.is_empty() || told[first].iter().any(|line| is_initial(line));
    expected[first].extend(of_initial);
    for event in &history.events {
        let Some(at) = event
            .step
            .checked_sub(begin)
            .filter(|at| *at >= first && *at < steps.len())
        else {
            continue;
        };
        let line = event.told(member.name);
        if expected[at].contains(&line) || at == 0 {
            continue;
        }
        expected[at].push(line);
        if member.panics == Some(event.key.as_str()) {
            expected[at].push(format!("{panicked}{}", event.new));
        }
    }
    let (theirs, ours) = (told.concat(), expected[first..].concat());
    let before = told[..first].concat().len();
    if !ours.starts_with(&theirs[before..]) {
        return;
    }
    for (one, lines) in steps.iter_mut().zip(expected).skip(first) {
        one.lines.retain(|line| !is_told_to(member, line));
        one.lines.extend(lines);
        in_order(&mut one.lines);
    }
    let synced = format!("{} synced", member.name);
    if was_initial && !steps.iter().any(|one| one.lines.contains(&synced)) {
        steps[first].lines.push(synced);
        in_order(&mut steps[first].lines);
    }
}

fn is_told_to(member: &Member<'_>, line: &str) -> bool {
    Told::parse(line).is_some_and(|told| told.handler == member.name)
}

fn told_to(member: &Member<'_>, one: &Observed<'_>) -> Vec<String> {
    let lines = one.lines.iter().filter(|line| is_told_to(member, line));
    lines.cloned().collect()
}

fn is_initial(line: &str) -> bool {
    Told::parse(line).is_some_and(|told| told.is_initial())
}

/// The initial adds among what was told later, each with its panic.
fn initial<'a>(lines: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut was_initial = false;
    for line in lines {
        let is_panic = line.split(' ').nth(1) == Some("panic");
        was_initial = is_initial(line) || (was_initial && is_panic);
        if was_initial {
            kept.push(line.clone());
        }
    }
    kept
}
