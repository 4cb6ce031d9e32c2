//! D-30 and D-31: a listener that has not finished one resync is not given the next, and what
//! changed after a resync was queued is left out of it.

use std::collections::BTreeSet;

use super::observed::each_step;
use super::told::{Told, What, version};
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const OVERLAPPING: Rule = Rule {
    row: "D-30",
    name: "no resync on top of a resync",
    apply: overlapping,
};

pub(super) const OVERTAKEN: Rule = Rule {
    row: "D-31",
    name: "no reminder of what has changed since",
    apply: overtaken,
};

/// A blocked handler is told all that waits when it is unblocked: of several rounds the first.
fn overlapping(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    each_step(scenario, trace, |step, lines| {
        if step.verb != "unblock" {
            return;
        }
        let (mut seen, mut is_over) = (BTreeSet::new(), false);
        let mut was_reminder = false;
        lines.retain(|line| {
            let Some(told) = Told::parse(line).filter(Told::is_repetition) else {
                is_over |= was_reminder;
                was_reminder = false;
                return true;
            };
            was_reminder = true;
            is_over |= !seen.insert(told.key().to_owned());
            !is_over
        });
    })
}

fn overtaken(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    each_step(scenario, trace, |step, lines| {
        if step.verb != "unblock" {
            return;
        }
        let later = lines.clone();
        let mut at = 0;
        lines.retain(|line| {
            at += 1;
            let told = Told::parse(line).filter(Told::is_repetition);
            told.is_none_or(|told| !is_overtaken(&told, &later[at..]))
        });
    })
}

fn is_overtaken(reminder: &Told<'_>, later: &[String]) -> bool {
    let mut later = later.iter().filter_map(|line| Told::parse(line));
    later.any(|told| {
        let is_of = told.handler == reminder.handler && told.key() == reminder.key();
        let is_end = matches!(told.what, What::Delete(_) | What::Gone(_));
        is_of && (is_end || version(told.object()) > version(reminder.object()))
    })
}
