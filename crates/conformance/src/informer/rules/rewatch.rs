//! D-53: a watch that fails in a way that says nothing about its version is watched again from
//! there.
//!
//! client-go lists, and tells the net effect of what it missed. Ours reads it from the history,
//! change by change, deletions in sight.

use std::collections::{BTreeMap, BTreeSet};

use super::history::History;
use super::member::members;
use super::observed::{Observed, in_order, is_relist, observed, trace_of};
use super::told::{Told, What};
use crate::rules::Rule;
use crate::scenario::{Scenario, Step};
use crate::trace::Trace;

pub(super) const RULE: Rule = Rule {
    row: "D-53",
    name: "watch again rather than list",
    apply,
};

/// Answers to a watch after which client-go lists and ours does not.
const SAYS_NOTHING: [&str; 6] = ["401", "500", "503", "504", "reset", "garbage"];

fn apply(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let Some(history) = History::of(scenario) else {
        return trace;
    };
    let mut steps = observed(scenario, &trace);
    let mut phase = Phase::default();
    // client-go's version, and what ours is meanwhile: a list is newer than the last event.
    let (mut theirs, mut ours) = (0, 0);
    for index in 0..steps.len() {
        let step = steps[index].step;
        let shown = steps[index]
            .lines
            .iter()
            .find_map(|line| line.strip_prefix("version "));
        let news = shown.and_then(|text| text.parse::<u64>().ok());
        theirs = news.unwrap_or(theirs);
        if step.verb != "recover" {
            phase.take(step);
            ours = news.unwrap_or(ours);
            continue;
        }
        let mut ended = std::mem::take(&mut phase);
        // A history that is short may have gone past the version of the watch.
        ended.says_something |= scenario.setting("history").is_some();
        if ended.is_watched_again() && ours > 0 {
            ours = watched(scenario, &history, ours, index, &mut steps);
        } else if news.is_none() && ended.says_something && ours != theirs {
            steps[index].lines.push(format!("version {theirs}"));
            in_order(&mut steps[index].lines);
            ours = theirs;
        } else {
            without_first_list(&mut steps[index].lines, ended.is_closed);
            ours = news.unwrap_or(ours);
        }
    }
    trace_of(steps, trace)
}

/// What goes wrong from one recovery to the next.
#[derive(Default)]
struct Phase {
    says_nothing: bool,
    says_something: bool,
    is_closed: bool,
}

impl Phase {
    fn take(&mut self, step: &Step) {
        match (step.verb.as_str(), step.args.as_slice()) {
            ("fault", [request, what, ..]) if request == "watch" => {
                let status = what.strip_prefix("error=").unwrap_or(what);
                let status = status.split('@').next().unwrap_or_default();
                let is_nothing = SAYS_NOTHING.contains(&status) || what == "close@0";
                self.says_nothing |= is_nothing;
                self.says_something |= !is_nothing && !["429", "refuse"].contains(&status);
            }
            ("expire" | "compact", _) => self.says_something = true,
            // A watch that has told nothing within a second counts as failed there, too.
            ("close" | "cut", _) => {
                self.says_nothing = true;
                self.is_closed = true;
            }
            ("start", _) => *self = Self::default(),
            _ => {}
        }
    }

    fn is_watched_again(&self) -> bool {
        self.says_nothing && !self.says_something
    }
}

/// Tells what was missed, event by event; the version after that.
/// What a handler has in the end of all it was told of: each key with its last object, or without
/// one. What came and went in one go leaves nothing.
fn outcome(lines: &[String], handler: &str) -> BTreeMap<String, Option<String>> {
    let mut outcome = BTreeMap::new();
    let mut begun = BTreeSet::new();
    for told in lines.iter().filter_map(|line| Told::parse(line)) {
        if told.handler != handler || told.is_repetition() {
            continue;
        }
        let key = told.key().to_owned();
        match told.what {
            What::Add { object, .. } | What::Update { new: object, .. } => {
                if matches!(told.what, What::Add { .. }) && !outcome.contains_key(&key) {
                    begun.insert(key.clone());
                }
                outcome.insert(key, Some(object.to_owned()));
            }
            What::Delete(_) | What::Gone(_) if begun.contains(&key) => {
                outcome.remove(&key);
                begun.remove(&key);
            }
            What::Delete(_) | What::Gone(_) => {
                outcome.insert(key, None);
            }
            What::Panic(_) => {}
        }
    }
    outcome
}

fn watched(
    scenario: &Scenario,
    history: &History,
    version: u64,
    index: usize,
    steps: &mut [Observed<'_>],
) -> u64 {
    let missed = history
        .events
        .iter()
        .filter(|event| event.version > version && event.step <= index);
    let missed: Vec<_> = missed.collect();
    let lines = &mut steps[index].lines;
    let here = members(scenario).into_iter();
    let here = here.filter(|member| member.joined < index && index < member.left);
    let here: Vec<_> = here.collect();
    let is_same = here.iter().all(|member| {
        let told = missed.iter().map(|event| event.told(member.name));
        outcome(lines, member.name) == outcome(&told.collect::<Vec<_>>(), member.name)
    });
    // What came out of thin air is taken back by a list, and is in no history.
    let has_sends = scenario.steps[..index]
        .iter()
        .any(|step| step.verb == "send");
    if !is_same && !has_sends {
        // The list brought something else: that is not this difference.
        return version;
    }
    lines.retain(|line| Told::parse(line).is_none() && !line.starts_with("version "));
    for member in here {
        lines.extend(missed.iter().map(|event| event.told(member.name)));
    }
    if let Some(last) = missed.last() {
        lines.push(format!("version {}", last.version));
    }
    // Of the requests the one that opens the watch again stays: from the version we have.
    let mut has_list = false;
    lines.retain(|line| {
        let follows_a_list = has_list && line.starts_with("request ") && !is_relist(line);
        has_list |= line.starts_with("request ") && !line.contains("watch=true");
        !follows_a_list
    });
    for line in lines.iter_mut().filter(|line| is_relist(line)) {
        let path = line.split('?').next().unwrap_or(line).to_owned();
        *line = format!(
            "{path}?allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds=*&watch=true"
        );
    }
    in_order(lines);
    missed.last().map_or(version, |last| last.version)
}

/// A watch that was closed early is opened again first: the list for which client-go closes it is
/// left out, if another follows.
fn without_first_list(lines: &mut Vec<String>, is_closed: bool) {
    let requests: Vec<usize> = (0..lines.len())
        .filter(|at| lines[*at].starts_with("request "))
        .collect();
    let [list, watch, again, ..] = requests[..] else {
        return;
    };
    let is_pattern =
        is_relist(&lines[list]) && !is_relist(&lines[watch]) && is_relist(&lines[again]);
    let version = |line: &str| -> Option<String> {
        let from = line.split_once("resourceVersion=")?.1;
        Some(from.split('&').next().unwrap_or(from).to_owned())
    };
    if let (true, true, Some(old), Some(new)) = (
        is_closed,
        is_pattern,
        version(&lines[list]),
        version(&lines[watch]),
    ) {
        let back = |line: &str| {
            let (from, to) = (
                format!("resourceVersion={new}"),
                format!("resourceVersion={old}"),
            );
            line.replace(&from, &to)
        };
        lines[watch] = back(&lines[watch]);
        lines[again] = back(&lines[again]);
        lines.remove(list);
    }
}
