//! D-07, D-20, D-21 and D-56: what client-go does at once and ours after a delay.
//!
//! What happened is the same, in a later step: the next in which time passes.

use std::time::Duration;

use super::history::History;
use super::observed::{Observed, in_order, is_relist, observed, rank, trace_of};
use crate::informer::settings::duration;
use crate::rules::Rule;
use crate::scenario::{Scenario, Step};
use crate::trace::Trace;

pub(super) const REOPENED: Rule = Rule {
    row: "D-21",
    name: "the second early close is a failure",
    apply: reopened,
};

pub(super) const FALLEN_BACK: Rule = Rule {
    row: "D-56",
    name: "no list on top of a server that fails",
    apply: fallen_back,
};

/// A watch that ends before this is a failed attempt.
const SHORT: Duration = Duration::from_secs(30);
/// One that lives for so long lets the next early close be the first again.
const HEALTHY: Duration = Duration::from_secs(120);

fn reopened(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let (mut lived, mut closed) = (Duration::ZERO, 0);
    for index in 0..steps.len() {
        let step = steps[index].step;
        match step.verb.as_str() {
            "advance" => lived += duration(&step.args.join(" ")).unwrap_or_default(),
            "close" | "cut" => {
                closed = if lived >= HEALTHY { 0 } else { closed };
                let is_cut = step.verb == "cut";
                if lived < SHORT || is_cut {
                    closed += usize::from(!is_cut);
                    let is_reopened = steps[index].lines.iter().any(|line| is_rewatch(line));
                    if is_reopened && (closed > 1 || is_cut) {
                        postpone(&mut steps, index, 0);
                    }
                }
                lived = Duration::ZERO;
            }
            "expire" | "recover" | "start" => lived = Duration::ZERO,
            "create" | "update" | "delete" => {
                let Some(is_cut) = ends_by_itself(&scenario.steps[..index]) else {
                    continue;
                };
                if steps[index].lines.iter().any(|line| is_rewatch(line)) {
                    closed += usize::from(!is_cut);
                    if is_cut || closed > 1 {
                        steps[index].lines.retain(|line| !is_rewatch(line));
                        postpone(&mut steps, index + 1, 0);
                    }
                }
            }
            _ => {}
        }
    }
    trace_of(steps, trace)
}

/// Whether watches end after some events, and if so whether they are cut.
fn ends_by_itself(before: &[Step]) -> Option<bool> {
    let fault = before.iter().rfind(|step| step.verb == "fault")?;
    let what = fault.args.get(1).filter(|_| fault.args[0] == "watch")?;
    let is_cut = what.starts_with("cut@");
    (is_cut || what.starts_with("close@")).then_some(is_cut)
}

fn is_rewatch(line: &str) -> bool {
    line.starts_with("request ") && !is_relist(line)
}

pub(super) const INCOMPLETE: Rule = Rule {
    row: "D-20",
    name: "initial events that never end are listed instead, or tried again later",
    apply: incomplete,
};

pub(super) const NAMELESS: Rule = Rule {
    row: "D-07",
    name: "an object without a name breaks its list or watch",
    apply: nameless,
};

fn incomplete(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    for index in 0..steps.len() {
        let before = scenario.steps[..index].iter();
        let mut faults = before.filter(|step| step.verb == "fault");
        let is_of_stream = |step: &&Step| step.args.first().is_some_and(|of| of == "stream");
        let of_stream = faults.rfind(is_of_stream);
        let what = of_stream
            .and_then(|fault| fault.args.get(1))
            .map_or("", String::as_str);
        match steps[index].step.verb.as_str() {
            "start" if what.starts_with("close@") => {
                let mut lines = steps[index].lines.iter();
                let first = lines.position(|line| is_relist(line));
                postpone(&mut steps, index, first.map_or(0, |first| first + 1));
            }
            "start" if what.starts_with("cut@") => listed_instead(&mut steps[index].lines),
            "recover" if what == "no-end" => listed_instead(&mut steps[index].lines),
            _ => {}
        }
    }
    trace_of(steps, trace)
}

/// The last stream of a step becomes a list, and a watch from its version.
fn listed_instead(lines: &mut Vec<String>) {
    let is_stream = |line: &String| line.contains("sendInitialEvents=true");
    let version = lines.iter().find_map(|line| line.strip_prefix("version "));
    let (Some(at), Some(version)) = (lines.iter().rposition(is_stream), version) else {
        return;
    };
    let path = lines[at].split('?').next().unwrap_or_default();
    let list = format!("{path}?limit=500&resourceVersion=0");
    let watch = format!(
        "{path}?allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds=*&watch=true"
    );
    lines.splice(at..=at, [list, watch]);
}

/// Nothing of that list is taken, and nothing of that watch from there on.
fn nameless(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let is_nameless = |line: &String| line.split(' ').any(|word| word.starts_with('@'));
    let first = steps
        .iter()
        .position(|one| one.lines.iter().any(is_nameless));
    let is_streamed = |one: &Observed<'_>| {
        one.lines
            .iter()
            .any(|line| line.contains("sendInitialEvents=true"))
    };
    let Some(first) = first else {
        return trace;
    };
    if is_streamed(&steps[first]) {
        named_by_a_list(scenario, first, &mut steps[first].lines);
        return trace_of(steps, trace);
    }
    let lines = &mut steps[first].lines;
    let listed = lines.iter().position(|line| is_relist(line));
    let kept = listed.map(|at| lines[at].clone());
    postpone(&mut steps, first, 0);
    steps[first].lines.extend(kept);
    for one in &mut steps {
        one.lines.retain(|line| !is_nameless(line));
    }
    trace_of(steps, trace)
}

/// A stream that broke is followed by a list, which has the name.
fn named_by_a_list(scenario: &Scenario, step: usize, lines: &mut Vec<String>) {
    let history = History::of(scenario);
    let events = history.iter().flat_map(|history| &history.events);
    let first = events
        .filter(|event| event.step <= step)
        .min_by_key(|event| &event.key);
    let Some(first) = first else { return };
    let nameless = format!("@{}", first.version);
    for line in lines.iter_mut() {
        let words = line.split(' ').map(|word| match word == nameless {
            true => first.new.as_str(),
            false => word,
        });
        *line = words.collect::<Vec<&str>>().join(" ");
    }
    let streamed = lines.iter().find(|line| is_relist(line)).cloned();
    listed_instead(lines);
    lines.extend(streamed);
    // The stream came first.
    lines.sort_by_key(|line| !line.contains("sendInitialEvents=true"));
    in_order(lines);
}

/// Statuses that a list would be answered with as well.
const OF_THE_SERVER: [&str; 6] = ["401", "403", "404", "500", "503", "504"];

fn is_failing_stream(step: &Step) -> bool {
    let [request, what, ..] = step.args.as_slice() else {
        return false;
    };
    let status = what.strip_prefix("error=").unwrap_or(what);
    let status = status.split('@').next().unwrap_or_default();
    step.verb == "fault" && request == "stream" && OF_THE_SERVER.contains(&status)
}

fn fallen_back(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let mut is_failing = false;
    for index in 0..steps.len() {
        is_failing |= is_failing_stream(steps[index].step);
        let lines = &steps[index].lines;
        let streamed = lines
            .iter()
            .position(|line| line.contains("sendInitialEvents=true"));
        let Some(streamed) = streamed.filter(|_| is_failing) else {
            continue;
        };
        is_failing = false;
        if steps[index].step.verb == "start" {
            postpone(&mut steps, index, streamed + 1);
        }
    }
    trace_of(steps, trace)
}

/// Moves what was observed from a line of a step on, what handlers were told included, to the
/// next step in which time passes. Of states only the last is seen then.
fn postpone(steps: &mut [Observed<'_>], index: usize, from: usize) {
    let waits = |one: &Observed<'_>| matches!(one.step.verb.as_str(), "advance" | "recover");
    let mut after = steps.iter().enumerate().skip(index);
    let is_later = |at: usize| at > index || from == 0;
    let until = after
        .find(|(at, one)| is_later(*at) && waits(one))
        .map(|(at, _)| at);
    if until == Some(index) {
        return;
    }
    let mut moved: Vec<String> = Vec::new();
    for (at, one) in steps.iter_mut().enumerate().skip(index) {
        if at >= until.unwrap_or(usize::MAX) {
            break;
        }
        let lines = std::mem::take(&mut one.lines);
        for (position, line) in lines.into_iter().enumerate() {
            let is_before = at == index && position < from && line.starts_with("request ");
            if is_before || rank(&line) == 3 {
                one.lines.push(line);
            } else {
                moved.push(line);
            }
        }
    }
    let Some(until) = until else {
        return;
    };
    moved.append(&mut steps[until].lines);
    let is_state = |line: &String, word: &str| line.starts_with(word);
    for word in ["store ", "version "] {
        let last = moved.iter().rposition(|line| is_state(line, word));
        let mut position = 0;
        moved.retain(|line| {
            position += 1;
            !is_state(line, word) || Some(position - 1) == last
        });
    }
    in_order(&mut moved);
    steps[until].lines = moved;
}
