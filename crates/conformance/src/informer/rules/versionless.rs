//! D-64 and D-65: lists that say too little. One without a version is asked for again; a page
//! that is gone is answered as one that expired, with the whole list.

use super::met::{Asked, met};
use super::observed::{each_step, in_order, is_relist, observed, trace_of};
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) const EMPTY_VERSION: Rule = Rule {
    row: "D-64",
    name: "a list without a version is asked for again",
    apply: asked_again,
};

pub(super) const GONE_PAGE: Rule = Rule {
    row: "D-65",
    name: "a page that is gone has expired",
    apply: gone_page,
};

fn asked_again(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let requests = met(&steps);
    let hit = requests.iter().find(|request| {
        request.asked == Asked::List && request.fault.as_deref() == Some("empty-version")
    });
    let Some(hit) = hit else {
        return trace;
    };
    let list = steps[hit.step].lines[hit.line].clone();
    let waits = |verb: &str| matches!(verb, "advance" | "recover");
    let is_at_once = !waits(&steps[hit.step].step.verb);
    if is_at_once
        && steps
            .get(hit.step + 1)
            .is_some_and(|next| waits(&next.step.verb))
    {
        let lines = std::mem::replace(&mut steps[hit.step].lines, vec![list]);
        let next = &mut steps[hit.step + 1].lines;
        next.extend(lines);
        in_order(next);
    } else {
        steps[hit.step].lines.insert(hit.line, list);
    }
    let mut version = String::new();
    for one in &mut steps {
        let shown = one
            .lines
            .iter()
            .find_map(|line| line.strip_prefix("version "));
        version = shown.map_or(version, str::to_owned);
        for line in &mut one.lines {
            if Asked::of(line) == Some(Asked::Watch) && !line.contains("resourceVersion=") {
                let at = format!("resourceVersion={version}&timeoutSeconds");
                *line = line.replace("timeoutSeconds", &at);
            }
        }
    }
    trace_of(steps, trace)
}

fn gone_page(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let hit = met(&observed(scenario, &trace))
        .into_iter()
        .find(|request| request.asked == Asked::Page && request.fault.as_deref() == Some("gone"));
    let Some(hit) = hit else {
        return trace;
    };
    let mut index = 0;
    each_step(scenario, trace, |_, lines| {
        if index == hit.step {
            let first = lines[..hit.line].iter().rfind(|line| is_relist(line));
            let whole = first.map(|line| line.replace("limit=500&", "").replace("&limit=500", ""));
            let after = hit.line + 1;
            let again = lines[after..]
                .iter()
                .take_while(|line| is_relist(line))
                .count();
            lines.splice(after..after + again, whole);
        }
        index += 1;
    })
}
