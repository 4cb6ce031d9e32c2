//! D-61 and D-60: what is asked for when a version is more than the server has.
//!
//! A watch at such a version is refused. client-go lists from the same version, is refused again,
//! and only then lists the latest state; ours does so at once. And client-go's second list has no
//! pages, since its pager remembers that the first one needed none.

use super::met::{Asked, met};
use super::observed::{each_step, observed, trace_of};
use crate::rules::Rule;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// The latest state is asked for at once.
pub(super) const LATEST: Rule = Rule {
    row: "D-61",
    name: "after a version the server does not have, the latest",
    apply: latest,
};

/// A list of the latest state has pages.
pub(super) const PAGED: Rule = Rule {
    row: "D-60",
    name: "a list of the latest state has pages",
    apply: paged,
};

fn latest(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut steps = observed(scenario, &trace);
    let requests = met(&steps);
    for pair in requests.windows(2) {
        let [watch, relist] = pair else { continue };
        let is_ahead = watch.fault.as_deref().is_some_and(|fault| {
            let status = fault.strip_prefix("error=").unwrap_or(fault);
            status.split('@').next() == Some("too-large")
        });
        if watch.asked != Asked::Watch || !is_ahead || relist.asked == Asked::Watch {
            continue;
        }
        let line = &mut steps[relist.step].lines[relist.line];
        *line = without_version(line);
    }
    trace_of(steps, trace)
}

/// The request for the latest state.
fn without_version(request: &str) -> String {
    let (path, query) = request.split_once('?').unwrap_or((request, ""));
    let parameters = query.split('&');
    let kept: Vec<&str> = parameters
        .filter(|pair| !pair.starts_with("resourceVersion="))
        .collect();
    match kept.is_empty() {
        true => path.to_owned(),
        false => format!("{path}?{}", kept.join("&")),
    }
}

fn paged(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    each_step(scenario, trace, |_, lines| {
        for line in lines.iter_mut() {
            let is_bare = !line.contains("resourceVersion=") && !line.contains("limit=");
            if Asked::of(line) == Some(Asked::List) && is_bare {
                let (path, query) = line.split_once('?').unwrap_or((line, ""));
                let mut parameters: Vec<&str> =
                    query.split('&').filter(|p| !p.is_empty()).collect();
                parameters.push("limit=500");
                parameters.sort_unstable();
                *line = format!("{path}?{}", parameters.join("&"));
            }
        }
    })
}
