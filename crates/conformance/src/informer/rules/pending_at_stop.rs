//! D-16: what waits for a blocked handler when the informer stops is delivered within the grace.
//!
//! client-go drops it. What waits is what was received before the stop and not told yet.

use super::history::History;
use super::member::{Member, members, start_of, stop_of};
use super::observed::{Observed, in_order, observed, trace_of};
use super::told::{Told, key};
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const RULE: Rule = Rule {
    row: "D-16",
    name: "what waits at the stop is delivered",
    apply,
};

fn apply(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let (Some(history), stop) = (History::of(scenario), stop_of(scenario)) else {
        return trace;
    };
    for member in members(scenario) {
        let unblocked = member
            .unblocked
            .filter(|at| *at > stop && *at < steps.len());
        if let Some(unblocked) = unblocked
            && member.is_blocked
            && member.left > stop
        {
            let start = start_of(scenario);
            let waiting = waiting(&steps[..stop], start, &member, &history);
            let lines = &mut steps[unblocked].lines;
            if waiting.iter().any(|line| line.ends_with(" initial")) {
                // client-go never settles its count of initial adds.
                lines.push(format!("{} synced", member.name));
            }
            lines.extend(waiting);
            in_order(lines);
        }
    }
    trace_of(steps, trace)
}

/// What a handler that waits in its first callback has not been told.
fn waiting(
    steps: &[Observed<'_>],
    start: usize,
    member: &Member<'_>,
    history: &History,
) -> Vec<String> {
    let first = steps.iter().enumerate().find_map(|(at, one)| {
        let mut lines = one.lines.iter();
        let line = lines.find(|line| is_of(member, line))?;
        Some((at, line.clone()))
    });
    let Some((at, first)) = first else {
        return Vec::new();
    };
    let mut waiting = Vec::new();
    if first.ends_with(" initial") {
        let told = Told::parse(&first).map(|told| key(told.object()).to_owned());
        let store = steps[..=at].iter().rev().find_map(|one| store_in(one));
        let others = store.unwrap_or_default();
        let others = others
            .iter()
            .filter(|object| Some(key(object)) != told.as_deref());
        waiting.extend(others.map(|object| format!("{} add {object} initial", member.name)));
    }
    let begin = start.max(member.joined);
    // What the server wrote while nobody watched never came.
    let received = received(steps);
    let since = history.events.iter().filter(|event| {
        event.step > begin
            && event.step < steps.len()
            && received.is_none_or(|version| event.version <= version)
    });
    waiting.extend(
        since
            .map(|event| event.told(member.name))
            .filter(|line| *line != first),
    );
    waiting
}

/// How far the store got, if it says so.
fn received(steps: &[Observed<'_>]) -> Option<u64> {
    let mut lines = steps.iter().rev().flat_map(|one| &one.lines);
    let version = lines.find_map(|line| line.strip_prefix("version "))?;
    version.parse().ok()
}

fn is_of(member: &Member<'_>, line: &str) -> bool {
    Told::parse(line).is_some_and(|told| told.handler == member.name)
}

fn store_in(one: &Observed<'_>) -> Option<Vec<String>> {
    let line = one
        .lines
        .iter()
        .find_map(|line| line.strip_prefix("store "))?;
    let objects = line.split(' ').filter(|object| *object != "none");
    Some(objects.map(str::to_owned).collect())
}
