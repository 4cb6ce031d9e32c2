//! D-09 and D-59: how often a transform runs, and what becomes of an object that it fails for.

use super::history::History;
use super::member::start_of;
use super::observed::{in_order, observed, trace_of};
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const QUARANTINED: Rule = Rule {
    row: "D-09",
    name: "what cannot be transformed is received all the same",
    apply: quarantined,
};

/// The store's version moves past an object whose key is quarantined.
fn quarantined(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    if !matches!(scenario.setting("transform"), Some("fail" | "keyless")) {
        return trace;
    }
    let Some(history) = History::of(scenario) else {
        return trace;
    };
    let mut steps = observed(scenario, &trace);
    let start = start_of(scenario);
    let mut is_watching = false;
    for (index, one) in steps.iter_mut().enumerate() {
        let mut events = history.events.iter();
        let last = events.rfind(|event| event.step == index && event.step > start);
        if let Some(last) = last
            && is_watching
            && last.is_bad
        {
            one.lines.push(format!("version {}", last.version));
            in_order(&mut one.lines);
        }
        is_watching |= one.lines.iter().any(|line| line == "synced");
        // Who lists has other trouble.
        is_watching &= one.step.verb != "expire";
        is_watching |= one.step.verb == "recover";
    }
    trace_of(steps, trace)
}

pub(super) const ONCE: Rule = Rule {
    row: "D-59",
    name: "an object is transformed once",
    apply: once,
};

/// The transform `mark` leaves a mark each time: what is found under two is found under one.
fn once(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    if scenario.setting("transform") != Some("mark") {
        return trace;
    }
    let mut steps = observed(scenario, &trace);
    for index in 1..steps.len() {
        let asked = |at: usize| match steps[at].step.verb.as_str() {
            "index" => steps[at].step.args.first().map(String::as_str),
            _ => None,
        };
        let (Some(one), Some(two)) = (asked(index - 1), asked(index)) else {
            continue;
        };
        if two.strip_suffix('+') == Some(one) && steps[index - 1].lines == ["index none"] {
            let found = std::mem::replace(&mut steps[index].lines, vec!["index none".to_owned()]);
            steps[index - 1].lines = found;
        }
    }
    trace_of(steps, trace)
}
