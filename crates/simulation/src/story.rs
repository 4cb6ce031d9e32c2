//! The story of a run, for people: what was done to it, what the server answered and why, what the
//! first handler was told, what the store looked like, and what does not hold.

use std::fmt::Write;

use crate::{Violation, evidence::Evidence};

/// Enough to see the cause; the whole story comes with the command at its end.
const MOST_LINES: usize = 400;

pub(crate) fn tell(evidence: &Evidence, violations: &[Violation]) -> String {
    let plan = &evidence.plan;
    let kinds: Vec<_> = plan.kinds.iter().map(|kind| kind.name()).collect();
    let mut lines = Vec::new();
    for (at, deed) in &evidence.deeds {
        lines.push((*at, format!("did    {deed}")));
    }
    for request in &evidence.requests {
        lines.push((request.at, format!("server {request}")));
    }
    for (index, listener) in evidence.listeners.iter().enumerate() {
        lines.push((
            listener.joined,
            format!("h{index}     joined: {:?}", listener.plan),
        ));
        for told in &listener.told {
            lines.push((
                told.at,
                format!("h{index}     {} {:?}", told.key, told.what),
            ));
        }
        if let Some(left) = listener.left {
            lines.push((left.at, format!("h{index}     left after {}", left.told)));
        }
    }
    for violation in violations {
        lines.push((violation.at, format!("BROKEN {violation}")));
    }
    lines.sort_by_key(|(at, _)| *at);
    let last = violations.first().map(|violation| violation.at);
    let shown = last.map_or(lines.len(), |last| {
        lines.partition_point(|(at, _)| *at <= last)
    });
    let from = shown.saturating_sub(MOST_LINES);
    let mut story = format!("seed {}\nkinds: {}\n", plan.seed, kinds.join(", "));
    let mut say = |text: String| {
        writeln!(story, "{text}").expect("a string takes everything");
    };
    say(format!("{:?}\n{:?}", plan.server, plan.informer));
    say(format!("hits: {:?}", evidence.hits));
    if from > 0 {
        say(format!("... {from} lines before"));
    }
    for (at, line) in &lines[from..shown] {
        say(format!("{:>9.3} {line}", at.as_secs_f64()));
    }
    match violations.first() {
        Some(first) => say(format!(
            "broken first: {first}\n({} in all)\nreplay: cargo xtask simulate --seed {}{}",
            violations.len(),
            plan.seed,
            match plan.informer.packed {
                Some(_) => " --packed",
                None => "",
            }
        )),
        None => say(format!("all holds; the end: {:?}", evidence.ending)),
    }
    story
}
