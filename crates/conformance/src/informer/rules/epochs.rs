//! D-24: a list older than what we have is asked for again, consistently, before it is believed.

use super::history::History;
use super::observed::{observed, trace_of};
use super::told::Told;
use crate::rules::Rule;
use crate::scenario::{Scenario, Step};
use crate::trace::Trace;

pub(super) const RULE: Rule = Rule {
    row: "D-24",
    name: "an older list is not believed",
    apply,
};

/// client-go takes the list, and comes back from the past by the watch that follows. Where the
/// server has nothing newer than we do, ours tells nothing.
fn apply(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let Some(history) = History::of(scenario) else {
        return trace;
    };
    let mut steps = observed(scenario, &trace);
    let (mut shows, mut version) = (None, 0);
    for (index, one) in steps.iter_mut().enumerate() {
        shows = shown_by_lists(one.step).or(shows);
        let past = shows.filter(|past| one.step.verb == "recover" && *past < version);
        let has_news = history
            .events
            .iter()
            .any(|event| event.version > version && event.step <= index);
        if let Some(past) = past.filter(|_| !has_news) {
            shows = None;
            one.lines.retain(|line| Told::parse(line).is_none());
            let from_the_past = format!("resourceVersion={past}&");
            let watch = one
                .lines
                .iter()
                .position(|line| line.contains(&from_the_past));
            if let Some(watch) = watch {
                let now = format!("resourceVersion={version}&");
                one.lines[watch] = one.lines[watch].replace(&from_the_past, &now);
                let path = one.lines[watch].split('?').next().unwrap_or_default();
                let list = format!("{path}?limit=500");
                one.lines.insert(watch, list);
            }
        }
        let news = one
            .lines
            .iter()
            .find_map(|line| line.strip_prefix("version "));
        version = news.and_then(|text| text.parse().ok()).unwrap_or(version);
    }
    trace_of(steps, trace)
}

/// `fault list old=<version>`
fn shown_by_lists(step: &Step) -> Option<u64> {
    let [request, what, ..] = step.args.as_slice() else {
        return None;
    };
    let is_fault = step.verb == "fault" && request == "list";
    what.strip_prefix("old=").filter(|_| is_fault)?.parse().ok()
}
