//! D-15: after a panic in a handler the next item follows at once, and the sync count is settled.
//!
//! client-go waits for a second before the next item, and a handler that panicked in an initial
//! add never becomes synced. What it told later, and would have told had time passed, is told in
//! the step that caused it. What client-go did tell must agree, or the trace stays as it is.

use super::end::end_at_once;
use super::history::History;
use super::member::{Member, members, start_of, stop_of};
use super::observed::{Observed, in_order, observed, trace_of};
use super::told::{Told, key};
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
            let (stay, later) = steps.split_at_mut(end);
            without_pause(&mut stay[begin..], later, begin, &member, &history);
        }
    }
    let mut lines = steps.iter().flat_map(|one| &one.lines);
    if lines.any(|line| line.split(' ').nth(1) == Some("panic")) {
        end_at_once(scenario, &mut steps);
    }
    trace_of(steps, trace)
}

/// The steps are those of its stay, `later` those behind: what client-go had in hand comes then.
fn without_pause(
    steps: &mut [Observed<'_>],
    later: &mut [Observed<'_>],
    begin: usize,
    member: &Member<'_>,
    history: &History,
) {
    let told: Vec<Vec<String>> = steps.iter().map(|one| told_to(member, one)).collect();
    let panicked = format!("{} panic ", member.name);
    let is_panic = |lines: &Vec<String>| lines.iter().any(|line| line.starts_with(&panicked));
    let Some(first) = told.iter().position(is_panic) else {
        return;
    };
    let was_initial = told[first].iter().any(|line| is_initial(line));
    let mut expected: Vec<Vec<String>> = vec![Vec::new(); steps.len()];
    expected[first].clone_from(&told[first]);
    if was_initial {
        let rest = not_told(&steps[..=first], &told[first], member);
        expected[first].extend(rest);
    }
    for event in &history.events {
        let at = event.step.checked_sub(begin);
        let Some(at) = at.filter(|at| *at >= first && *at > 0 && *at < steps.len()) else {
            continue;
        };
        let line = event.told(member.name);
        if !expected[at].contains(&line) {
            expected[at].push(line);
            if member.panics == Some(event.key.as_str()) {
                expected[at].push(format!("{panicked}{}", event.new));
            }
        }
    }
    let mut theirs = told[first..].concat();
    theirs.extend(later.iter().flat_map(|one| told_to(member, one)));
    if !expected[first..].concat().starts_with(&theirs) {
        return;
    }
    for one in later {
        one.lines.retain(|line| !is_told_to(member, line));
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

/// The initial adds that were still to come when the handler panicked.
fn not_told(steps: &[Observed<'_>], told: &[String], member: &Member<'_>) -> Vec<String> {
    let lines = steps.iter().rev().flat_map(|one| &one.lines);
    let store = lines.filter_map(|line| line.strip_prefix("store ")).next();
    let objects = store
        .unwrap_or("none")
        .split(' ')
        .filter(|object| *object != "none");
    let mut rest = Vec::new();
    for object in objects {
        let line = format!("{} add {object} initial", member.name);
        if !told.contains(&line) {
            rest.push(line);
            if member.panics == Some(key(object)) {
                rest.push(format!("{} panic {object}", member.name));
            }
        }
    }
    rest
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
