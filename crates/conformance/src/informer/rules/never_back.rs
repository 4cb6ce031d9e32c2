//! D-02 and D-17: neither store nor version ever goes back within an epoch.

use std::collections::BTreeMap;

use super::observed::{Observed, observed, trace_of};
use super::told::{goes_back, key};
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const STORE: Rule = Rule {
    row: "D-02",
    name: "the store keeps the newest",
    apply: store,
};

pub(super) const VERSION: Rule = Rule {
    row: "D-17",
    name: "the version keeps the newest",
    apply: version,
};

fn store(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let mut kept: BTreeMap<String, String> = BTreeMap::new();
    let mut shown = "store none".to_owned();
    for one in &mut steps {
        let may_go_back = may_go_back(scenario, one);
        let mut lines = Vec::with_capacity(one.lines.len());
        for line in &one.lines {
            let Some(objects) = line.strip_prefix("store ") else {
                lines.push(line.clone());
                continue;
            };
            let objects = objects.split(' ').filter(|object| *object != "none");
            let newest = objects.map(|object| {
                let before = kept.get(key(object)).filter(|_| !may_go_back);
                let newest = before.filter(|before| goes_back(before, object));
                newest.cloned().unwrap_or_else(|| object.to_owned())
            });
            let newest: Vec<String> = newest.collect();
            let text = match newest.is_empty() {
                true => "store none".to_owned(),
                false => format!("store {}", newest.join(" ")),
            };
            kept = newest
                .into_iter()
                .map(|object| (key(&object).to_owned(), object))
                .collect();
            if text != shown {
                shown.clone_from(&text);
                lines.push(text);
            }
        }
        one.lines = lines;
    }
    trace_of(steps, trace)
}

fn version(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let mut newest = 0;
    for one in &mut steps {
        let may_go_back = may_go_back(scenario, one);
        let before = newest;
        one.lines.retain(|line| {
            let version = line
                .strip_prefix("version ")
                .and_then(|text| text.parse().ok());
            let Some(version) = version else {
                return true;
            };
            let is_news: bool = version > newest || (may_go_back && version != newest);
            newest = if is_news { version } else { newest };
            is_news
        });
        if !may_go_back {
            one.lines
                .iter_mut()
                .for_each(|line| resume_at(line, before));
        }
    }
    trace_of(steps, trace)
}

/// Only a relist begins a new epoch; without requests in the trace any recovery may have one.
fn may_go_back(scenario: &Scenario, one: &Observed<'_>) -> bool {
    let is_silent = scenario.setting("requests") == Some("no");
    one.has_relist() || (is_silent && one.step.verb == "recover")
}

/// A watch begins at the newest version there was.
fn resume_at(line: &mut String, newest: u64) {
    const NAME: &str = "resourceVersion=";
    let Some(at) = line.find(NAME).filter(|_| line.starts_with("request ")) else {
        return;
    };
    let begin = at + NAME.len();
    let length = line[begin..]
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(line.len() - begin);
    let asked = line[begin..begin + length].parse::<u64>();
    if asked.is_ok_and(|asked| asked < newest) {
        line.replace_range(begin..begin + length, &newest.to_string());
    }
}
