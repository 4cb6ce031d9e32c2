//! D-08 and D-09: one object that is of no use costs itself, not its list, and not the watch.
//!
//! client-go fails the list, or ends the watch, and asks again until the object is good; or it
//! takes a list without it, and the object for deleted. With ours all others are told from the
//! first moment on, what was known of the one stays, and it is told when it is good again.

use std::collections::{BTreeMap, BTreeSet};

use super::history::{Event, History};
use super::member::{members, start_of};
use super::met::{Asked, met};
use super::observed::{Observed, in_order, is_relist, observed, trace_of};
use super::told::key;
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const UNDECODABLE: Rule = Rule {
    row: "D-08",
    name: "an object nobody can decode costs itself",
    apply: undecodable,
};

pub(super) const UNTRANSFORMED: Rule = Rule {
    row: "D-09",
    name: "an object that cannot be transformed costs itself",
    apply: untransformed,
};

/// Where the trouble begins, and the versions nobody can use.
struct Trouble {
    step: usize,
    is_list: bool,
    unusable: BTreeSet<u64>,
}

fn undecodable(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let Some(history) = History::of(scenario) else {
        return trace;
    };
    let steps = observed(scenario, &trace);
    let requests = met(&steps);
    let hit = requests
        .iter()
        .find(|request| request.fault.as_deref() == Some("undecodable"));
    let Some(hit) = hit else {
        return trace;
    };
    // Of a list the first object is meant, of a watch the first event.
    let (step, version) = match hit.asked {
        Asked::Watch => {
            let mut events = history.events.iter();
            let first = events.find(|event| event.step > hit.step);
            (
                first.map(|event| event.step),
                first.map(|event| event.version),
            )
        }
        _ => {
            let server = state_of(&history, hit.step);
            let first = server.values().next();
            (Some(hit.step), first.map(|event| event.version))
        }
    };
    let (Some(step), Some(version)) = (step, version) else {
        return trace;
    };
    let trouble = Trouble {
        step,
        is_list: hit.asked != Asked::Watch,
        unusable: BTreeSet::from([version]),
    };
    left_out(scenario, &history, &trouble, steps, trace)
}

fn untransformed(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    if !matches!(scenario.setting("transform"), Some("fail" | "keyless")) {
        return trace;
    }
    let Some(history) = History::of(scenario) else {
        return trace;
    };
    let steps = observed(scenario, &trace);
    let lists_bad = |(index, one): &(usize, &Observed<'_>)| {
        let server = state_of(&history, *index);
        one.lines.iter().any(|line| is_relist(line)) && server.values().any(|event| event.is_bad)
    };
    let Some((step, _)) = steps.iter().enumerate().find(lists_bad) else {
        return trace;
    };
    let bad = history.events.iter().filter(|event| event.is_bad);
    let trouble = Trouble {
        step,
        is_list: true,
        unusable: bad.map(|event| event.version).collect(),
    };
    left_out(scenario, &history, &trouble, steps, trace)
}

/// The trace without the objects of no use, if both agree in the end; client-go's own otherwise.
fn left_out(
    scenario: &Scenario,
    history: &History,
    trouble: &Trouble,
    mut steps: Vec<Observed<'_>>,
    trace: Trace,
) -> Trace {
    leave_out(scenario, history, trouble, &mut steps);
    let without = trace_of(steps, trace.clone());
    let state = state_of(history, scenario.steps.len());
    let mut newest = state.values();
    let is_good = newest.all(|event| !trouble.unusable.contains(&event.version));
    let agrees = |word| last(&trace, word) == last(&without, word);
    match !is_good || (agrees("store ") && agrees("version ")) {
        true => without,
        false => trace,
    }
}

fn last<'a>(trace: &'a Trace, word: &str) -> Option<&'a str> {
    let mut lines = trace.lines().iter().rev();
    lines.find_map(|line| line.strip_prefix(word))
}

/// What the server has after a step: the newest event of each key that is there.
fn state_of(history: &History, step: usize) -> BTreeMap<&str, &Event> {
    let mut state = BTreeMap::new();
    for event in history.events.iter().filter(|event| event.step <= step) {
        if event.is_deletion() {
            state.remove(event.key.as_str());
        } else {
            state.insert(event.key.as_str(), event);
        }
    }
    state
}

/// Tells everything from the trouble on as a list and a watch tell it that leave out a few.
fn leave_out(
    scenario: &Scenario,
    history: &History,
    trouble: &Trouble,
    steps: &mut [Observed<'_>],
) {
    let (before, after) = steps.split_at_mut(trouble.step);
    let shown = |word: &str| {
        let lines = before.iter().flat_map(|one| &one.lines);
        let shown: Vec<&str> = lines.filter_map(|line| line.strip_prefix(word)).collect();
        shown.last().map(|text| (*text).to_owned())
    };
    let stored = shown("store ").filter(|store| store != "none");
    let stored = stored.unwrap_or_default();
    let texts = stored.split_whitespace();
    let mut known: BTreeMap<String, String> = texts
        .map(|text| (key(text).to_owned(), text.to_owned()))
        .collect();
    let mut version = shown("version ").unwrap_or_default();
    let is_first = !before
        .iter()
        .any(|one| one.lines.iter().any(|line| line == "synced"));
    for (index, one) in (trouble.step..).zip(after) {
        let old = known.clone();
        let mut changes = Vec::new();
        if index == trouble.step && trouble.is_list {
            changes = listed(history, trouble, index, &mut known);
            requested(&mut one.lines, scenario, history.versions[index]);
        } else {
            one.lines.retain(|line| !line.starts_with("request "));
            let now = history.events.iter().filter(|event| event.step == index);
            let usable = now.filter(|event| !trouble.unusable.contains(&event.version));
            changes.extend(usable.filter_map(|event| watched(event, &mut known)));
        }
        one.lines
            .retain(|line| line.starts_with("request ") || is_answer(line));
        let initial = if is_first && index == trouble.step {
            " initial"
        } else {
            ""
        };
        for member in members(scenario) {
            if member.joined.max(start_of(scenario)) <= index && index < member.left {
                let told = changes
                    .iter()
                    .map(|change| change.line(member.name, initial));
                one.lines.extend(told);
                if !initial.is_empty() {
                    one.lines.push(format!("{} synced", member.name));
                }
            }
        }
        if !initial.is_empty() {
            one.lines.push("synced".to_owned());
        }
        if known != old {
            let texts: Vec<&str> = known.values().map(String::as_str).collect();
            one.lines.push(format!("store {}", texts.join(" ")));
        }
        let reached = history.versions[index].to_string();
        if reached != version {
            one.lines.push(format!("version {reached}"));
            version = reached;
        }
        in_order(&mut one.lines);
    }
}

fn is_answer(line: &str) -> bool {
    ["get ", "index ", "error "]
        .iter()
        .any(|word| line.starts_with(word))
        || line == "stopped"
}

/// One thing handlers are told.
enum Change {
    Add(String),
    Update(String, String),
    Delete(String),
    Gone(String),
}

impl Change {
    fn line(&self, handler: &str, initial: &str) -> String {
        match self {
            Self::Add(new) => format!("{handler} add {new}{initial}"),
            Self::Update(old, new) => format!("{handler} update {old} -> {new}"),
            Self::Delete(last) => format!("{handler} delete {last}"),
            Self::Gone(last) => format!("{handler} gone {last}"),
        }
    }
}

fn listed(
    history: &History,
    trouble: &Trouble,
    index: usize,
    known: &mut BTreeMap<String, String>,
) -> Vec<Change> {
    let server = state_of(history, index);
    let gone: Vec<String> = known
        .keys()
        .filter(|key| !server.contains_key(key.as_str()))
        .cloned()
        .collect();
    let mut changes: Vec<Change> = gone
        .iter()
        .filter_map(|key| known.remove(key).map(Change::Gone))
        .collect();
    for (key, event) in server {
        if trouble.unusable.contains(&event.version) {
            continue;
        }
        match known.insert(key.to_owned(), event.new.clone()) {
            None => changes.push(Change::Add(event.new.clone())),
            Some(old) if old != event.new => {
                changes.push(Change::Update(old, event.new.clone()));
            }
            Some(_) => {}
        }
    }
    changes
}

fn watched(event: &Event, known: &mut BTreeMap<String, String>) -> Option<Change> {
    if event.is_deletion() {
        return known
            .remove(&event.key)
            .map(|_| Change::Delete(event.new.clone()));
    }
    Some(match known.insert(event.key.clone(), event.new.clone()) {
        None => Change::Add(event.new.clone()),
        Some(old) => Change::Update(old, event.new.clone()),
    })
}

/// One list and the watch behind it, or one stream.
fn requested(lines: &mut Vec<String>, scenario: &Scenario, version: u64) {
    let Some(first) = lines.iter().find(|line| is_relist(line)).cloned() else {
        return;
    };
    lines.retain(|line| !line.starts_with("request "));
    let path = first.split('?').next().unwrap_or_default().to_owned();
    lines.push(first);
    if scenario.setting("client") == Some("listing") {
        lines.push(format!(
            "{path}?allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds=*&watch=true"
        ));
    }
}
