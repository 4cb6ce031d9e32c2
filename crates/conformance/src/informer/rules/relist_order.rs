//! D-34: with `DeltaFIFO` a relist's objects come before what it leaves out.

use super::observed::{Observed, observed, trace_of};
use super::told::{Told, What, version};
use crate::informer::object_text::store_key;
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const RULE: Rule = Rule {
    row: "D-34",
    name: "objects first",
    apply,
};

fn apply(scenario: &Scenario, way: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    if !way.starts_with("delta") {
        return trace;
    }
    for index in 0..steps.len() {
        let lines = std::mem::take(&mut steps[index].lines);
        steps[index].lines = reordered(&lines, |gone| relisted_at(&steps[..=index], &lines, gone));
    }
    trace_of(steps, trace)
}

/// Each run of objects that are gone goes behind what the same relist brought.
fn reordered(lines: &[String], relisted_at: impl Fn(&Told<'_>) -> Option<u64>) -> Vec<String> {
    let mut out = Vec::with_capacity(lines.len());
    let mut rest = lines;
    while let Some(line) = rest.first() {
        let missing = rest.iter().enumerate().take_while(|(at, line)| {
            let told = Told::parse(line);
            let is_same = told.as_ref().map(|told| told.handler) == handler(&rest[0]);
            is_same && told.is_some_and(|told| is_gone(&told)) && !is_reborn(&rest[*at..])
        });
        let count = missing.count();
        if count == 0 {
            out.push(line.clone());
            rest = &rest[1..];
            continue;
        }
        let (gone, after) = rest.split_at(count);
        let at = Told::parse(&gone[0]).and_then(|told| relisted_at(&told));
        let brought = brought(after, handler(&gone[0]), at);
        out.extend_from_slice(&after[..brought]);
        out.extend_from_slice(gone);
        rest = &after[brought..];
    }
    out
}

fn handler(line: &str) -> Option<&str> {
    Told::parse(line).map(|told| told.handler)
}

fn is_gone(told: &Told<'_>) -> bool {
    matches!(told.what, What::Gone(_))
}

/// Gone, and there again at once: another life.
fn is_reborn(lines: &[String]) -> bool {
    let told = |at: usize| lines.get(at).and_then(|line| Told::parse(line));
    let (Some(gone), Some(next)) = (told(0), told(1)) else {
        return false;
    };
    let is_add = matches!(next.what, What::Add { .. });
    is_gone(&gone) && is_add && gone.handler == next.handler && gone.key() == next.key()
}

/// How many lines come of the same relist: keys in their order, none newer than the relist.
fn brought(lines: &[String], of: Option<&str>, at: Option<u64>) -> usize {
    let mut last = String::new();
    let mut count = 0;
    while let Some(told) = lines.get(count).and_then(|line| Told::parse(line)) {
        let length = if is_reborn(&lines[count..]) { 2 } else { 1 };
        let is_object = length == 2 || matches!(told.what, What::Add { .. } | What::Update { .. });
        let newest =
            Told::parse(&lines[count + length - 1]).and_then(|told| version(told.object()));
        let is_later = at.is_some_and(|at| newest.is_some_and(|newest| newest > at));
        let key = store_key(told.key());
        if Some(told.handler) != of || !is_object || is_later || key <= last {
            break;
        }
        last = key;
        count += length;
    }
    count
}

/// The version of the relist that left an object out: when it went from the store.
fn relisted_at(steps: &[Observed<'_>], now: &[String], gone: &Told<'_>) -> Option<u64> {
    let (last, before) = steps.split_last()?;
    if last.step.verb != "unblock" {
        return None;
    }
    let What::Gone(object) = gone.what else {
        return None;
    };
    let mut lines: Vec<&String> = before.iter().flat_map(|one| &one.lines).collect();
    lines.extend(now);
    let held =
        |line: &&String| line.starts_with("store ") && line.split(' ').any(|word| word == object);
    let last_held = lines.iter().rposition(held)?;
    let after = lines[last_held + 1..]
        .iter()
        .position(|line| line.starts_with("store "))?;
    let version = lines[last_held + 1 + after..]
        .iter()
        .find_map(|line| line.strip_prefix("version "));
    version?.parse().ok()
}
