//! What ours does not tell handlers, or tells them otherwise: D-01 to D-06, D-34.

use std::collections::BTreeMap;

use super::member::members;
use super::observed::{Observed, observed, trace_of};
use super::told::{Told, What, goes_back, key, key_and_life};
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const STRANGER: Rule = Rule {
    row: "D-01",
    name: "no end of what was never announced",
    apply: |scenario, _, trace| judged(scenario, trace, stranger),
};

pub(super) const OLDER: Rule = Rule {
    row: "D-02",
    name: "an older state is no update",
    apply: |scenario, _, trace| judged(scenario, trace, older),
};

pub(super) const REPEATED: Rule = Rule {
    row: "D-03",
    name: "an event that repeats is silent",
    apply: |scenario, _, trace| judged(scenario, trace, repeated),
};

pub(super) const UNCHANGED: Rule = Rule {
    row: "D-04",
    name: "a relist is silent about the unchanged",
    apply: |scenario, _, trace| judged(scenario, trace, unchanged),
};

pub(super) const REBORN: Rule = Rule {
    row: "D-05",
    name: "two lives are two",
    apply: |scenario, _, trace| judged(scenario, trace, reborn),
};

pub(super) const TWICE: Rule = Rule {
    row: "D-06",
    name: "a key twice in a list is one",
    apply: twice,
};

/// Where a line stands, for whoever judges it.
struct Place<'a, 'b> {
    scenario: &'a Scenario,
    one: &'a Observed<'b>,
    /// What the handler has for this key, as ours tells it.
    current: Option<&'a str>,
}

/// Takes each line for a handler to the lines that ours tells instead.
fn judged(
    scenario: &Scenario,
    trace: Trace,
    judge: fn(&Place<'_, '_>, &Told<'_>, &str) -> Vec<String>,
) -> Trace {
    let mut steps = observed(scenario, &trace);
    let joins: Vec<(usize, String)> = members(scenario)
        .iter()
        .map(|member| (member.joined, member.name.to_owned()))
        .collect();
    let mut has: BTreeMap<(String, String), String> = BTreeMap::new();
    for (index, one) in steps.iter_mut().enumerate() {
        for (_, name) in joins.iter().filter(|(joined, _)| *joined == index) {
            has.retain(|(handler, _), _| handler != name);
        }
        let (mut lines, mut is_dropped) = (Vec::new(), false);
        for line in &one.lines {
            let Some(told) = Told::parse(line) else {
                lines.push(line.clone());
                continue;
            };
            if matches!(told.what, What::Panic(_)) {
                // It belongs to the callback before it.
                lines.extend((!is_dropped).then(|| line.clone()));
                continue;
            }
            let place = Place {
                scenario,
                one,
                current: has
                    .get(&(told.handler.to_owned(), told.key().to_owned()))
                    .map(String::as_str),
            };
            let instead = judge(&place, &told, line);
            is_dropped = instead.is_empty();
            instead.iter().for_each(|line| remember(&mut has, line));
            lines.extend(instead);
        }
        one.lines = lines;
    }
    trace_of(steps, trace)
}

fn remember(has: &mut BTreeMap<(String, String), String>, line: &str) {
    let Some(told) = Told::parse(line) else {
        return;
    };
    let at = (told.handler.to_owned(), told.key().to_owned());
    match told.what {
        What::Add { object, .. } | What::Update { new: object, .. } => {
            has.insert(at, object.to_owned());
        }
        What::Delete(_) | What::Gone(_) => {
            has.remove(&at);
        }
        What::Panic(_) => {}
    }
}

fn same(line: &str) -> Vec<String> {
    vec![line.to_owned()]
}

fn stranger(place: &Place<'_, '_>, told: &Told<'_>, line: &str) -> Vec<String> {
    match (&told.what, place.current) {
        (What::Delete(_) | What::Gone(_), None) => Vec::new(),
        _ => same(line),
    }
}

fn older(place: &Place<'_, '_>, told: &Told<'_>, line: &str) -> Vec<String> {
    let (What::Update { old, new }, Some(current)) = (&told.what, place.current) else {
        return same(line);
    };
    let is_back = goes_back(current, new) && !place.one.has_relist();
    let is_return = current == *new && old != new;
    if is_back || is_return {
        return Vec::new();
    }
    if key_and_life(current) == key_and_life(old) && goes_back(current, old) {
        return vec![format!("{} update {current} -> {new}", told.handler)];
    }
    same(line)
}

/// Whether what changes nothing cannot be a reminder: nobody asked for one, or no time passed.
fn is_no_reminder(place: &Place<'_, '_>) -> bool {
    let never = place
        .scenario
        .setting("resync")
        .is_none_or(|period| period == "0");
    never || !matches!(place.one.step.verb.as_str(), "advance" | "unblock")
}

fn comes_of_a_relist(place: &Place<'_, '_>) -> bool {
    place.one.has_relist()
        || matches!(
            place.one.step.verb.as_str(),
            "recover" | "unblock" | "advance"
        )
}

fn repeated(place: &Place<'_, '_>, told: &Told<'_>, line: &str) -> Vec<String> {
    let is_silent = told.is_repetition() && is_no_reminder(place) && !comes_of_a_relist(place);
    if is_silent { Vec::new() } else { same(line) }
}

fn unchanged(place: &Place<'_, '_>, told: &Told<'_>, line: &str) -> Vec<String> {
    let is_silent = told.is_repetition() && is_no_reminder(place) && comes_of_a_relist(place);
    if is_silent { Vec::new() } else { same(line) }
}

fn reborn(_: &Place<'_, '_>, told: &Told<'_>, line: &str) -> Vec<String> {
    match told.what {
        What::Update { old, new } if key_and_life(old) != key_and_life(new) => {
            let handler = told.handler;
            vec![
                format!("{handler} gone {old}"),
                format!("{handler} add {new}"),
            ]
        }
        _ => same(line),
    }
}

/// Of adds, or updates from one state, of one key that follow each other the last counts.
fn twice(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    for one in &mut steps {
        let all = one.lines.clone();
        let mut at = 0;
        one.lines.retain(|line| {
            at += 1;
            let next = all.get(at).and_then(|next| Told::parse(next));
            let (Some(told), Some(next)) = (Told::parse(line), next) else {
                return true;
            };
            !(told.handler == next.handler && key(told.object()) == key(next.object()) && {
                match (&told.what, &next.what) {
                    (What::Add { .. }, What::Add { .. }) => true,
                    (What::Update { old, .. }, What::Update { old: other, .. }) => {
                        old == other && !told.is_repetition()
                    }
                    _ => false,
                }
            })
        });
    }
    trace_of(steps, trace)
}
