//! What ours asks for otherwise: D-29, D-54, D-55 and D-57.

use std::time::Duration;

use super::observed::{each_step, in_order, is_relist};
use crate::informer::settings::duration;
use crate::rules::Rule;
use crate::scenario::{Scenario, Step};
use crate::trace::Trace;

pub(super) const PAGED: Rule = Rule {
    row: "D-54",
    name: "a consistent list is paged",
    apply: paged,
};

pub(super) const AHEAD: Rule = Rule {
    row: "D-55",
    name: "a version ahead of the server is given up at once",
    apply: ahead,
};

/// client-go keeps the page size it began with, which for a list from a version is none. After a
/// token that expired both ask for everything at once.
fn paged(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    each_step(scenario, trace, |_, lines| {
        let mut follows_a_page = false;
        for line in lines.iter_mut().filter(|line| line.starts_with("request ")) {
            if !line.contains('?') && !follows_a_page {
                line.push_str("?limit=500");
            } else if let Some(rest) = line.split_once("?labelSelector=")
                && !line.contains('&')
                && !follows_a_page
            {
                *line = format!("{}?labelSelector={}&limit=500", rest.0, rest.1);
            }
            follows_a_page = line.contains("continue=");
        }
    })
}

pub(super) const ONCE: Rule = Rule {
    row: "D-57",
    name: "a request is made once",
    apply: once,
};

/// What client-go's REST client makes of one request that is refused with `Retry-After`.
const ATTEMPTS: usize = 11;

fn once(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    each_step(scenario, trace, |_, lines| {
        let mut at = 0;
        while at < lines.len() {
            let same = lines[at..]
                .iter()
                .take_while(|line| **line == lines[at])
                .count();
            if same >= ATTEMPTS && lines[at].starts_with("request ") {
                lines.drain(at + 1..at + ATTEMPTS);
            }
            at += 1;
        }
    })
}

pub(super) const SHORTER: Rule = Rule {
    row: "D-29",
    name: "a watch ends after half the time",
    apply: shorter,
};

/// The longest time for which ours asks for a watch.
const LONGEST: Duration = Duration::from_secs(300);

/// Where client-go's watch ends in time, ours ended once before.
fn shorter(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    each_step(scenario, trace, |step, lines| {
        let time = duration(&step.args.join(" ")).unwrap_or_default();
        let only_watches = !lines.iter().any(|line| is_relist(line));
        if step.verb == "advance" && time > LONGEST && only_watches {
            let watches = lines.iter().filter(|line| line.starts_with("request "));
            let again: Vec<String> = watches.cloned().collect();
            lines.extend(again);
            in_order(lines);
        }
    })
}

/// Whether the server said that the version of a watch is ahead of its own.
fn is_ahead(step: &Step) -> bool {
    matches!(step.args.as_slice(), [request, what, ..]
        if step.verb == "fault" && request == "watch" && what.contains("too-large"))
}

fn ahead(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut is_useless = false;
    each_step(scenario, trace, |step, lines| {
        is_useless |= is_ahead(step);
        let relists = lines.iter_mut().filter(|line| is_relist(line));
        let mut from_a_version = relists.filter(|line| line.contains("resourceVersion="));
        if is_useless && let Some(line) = from_a_version.next() {
            without_version(line);
            is_useless = false;
        }
    })
}

fn without_version(line: &mut String) {
    let (path, query) = line.split_once('?').unwrap_or((line, ""));
    let kept = query
        .split('&')
        .filter(|pair| !pair.starts_with("resourceVersion="));
    let kept: Vec<&str> = kept.collect();
    *line = match kept.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", kept.join("&")),
    };
}
