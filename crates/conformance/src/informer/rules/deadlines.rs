//! D-19: what never answers is given up, and asked again.
//!
//! client-go waits for ever for the body of a list, or for the first byte of a watch. What there
//! was to tell is told by the recovery.

use std::collections::BTreeMap;

use super::history::History;
use super::member::members;
use super::observed::{in_order, observed, rank, trace_of};
use crate::informer::object_text::store_key;
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const RULE: Rule = Rule {
    row: "D-19",
    name: "silence has an end",
    apply,
};

fn apply(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let hangs = |step: &crate::Step| step.verb == "fault" && step.has("hang");
    let Some(history) = History::of(scenario).filter(|_| scenario.steps.iter().any(hangs)) else {
        return trace;
    };
    let mut steps = observed(scenario, &trace);
    let (mut is_synced, mut version) = (false, 0);
    for (index, one) in steps.iter_mut().enumerate() {
        let given_up = one
            .lines
            .iter()
            .position(|line| line == "error not-recovered");
        let is_silent = scenario.steps[..index].iter().any(hangs)
            && one.lines.iter().all(|line| matches!(rank(line), 1..=3));
        if let Some(given_up) = given_up.filter(|_| is_silent) {
            one.lines.remove(given_up);
            let here = members(scenario).into_iter();
            let here = here.filter(|member| member.joined < index && index < member.left);
            let live = live(&history, index);
            for member in here {
                if is_synced {
                    let missed = history.events.iter();
                    let missed =
                        missed.filter(|event| event.version > version && event.step <= index);
                    one.lines
                        .extend(missed.map(|event| event.told(member.name)));
                } else {
                    let add = |object: &String| format!("{} add {object} initial", member.name);
                    one.lines.extend(live.iter().map(add));
                    one.lines.push(format!("{} synced", member.name));
                }
            }
            one.lines.push(format!("store {}", live.join(" ")));
            one.lines
                .push(format!("version {}", history.versions[index]));
            one.lines.extend((!is_synced).then(|| "synced".to_owned()));
            in_order(&mut one.lines);
        }
        is_synced |= one.lines.iter().any(|line| line == "synced");
        let shown = one
            .lines
            .iter()
            .find_map(|line| line.strip_prefix("version "));
        version = shown.and_then(|text| text.parse().ok()).unwrap_or(version);
    }
    trace_of(steps, trace)
}

/// The objects there are after a step, in the order of their keys.
fn live(history: &History, index: usize) -> Vec<String> {
    let mut live = BTreeMap::new();
    for event in history.events.iter().filter(|event| event.step <= index) {
        let key = store_key(&event.key);
        if event.is_deletion() {
            live.remove(&key);
        } else {
            live.insert(key, event.new.clone());
        }
    }
    live.into_values().collect()
}
