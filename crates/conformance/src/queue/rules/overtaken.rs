//! D-63: what `RealFIFO` hands out before its first list comes is counted as part of that list if
//! it is done with after it came. The queue is synced one item too early.

use super::line::without;
use super::step_by_step;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// What is known of the initial population.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Initial {
    /// Nothing was brought that could be one.
    None,
    /// A list waits.
    Waits,
    /// It still waits, and client-go says that it was processed.
    Overtaken,
    /// It was taken, or there is none.
    Over,
}

pub(super) fn wait_for_the_list(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    if scenario.setting("queue") != Some("in-order") {
        return trace;
    }
    let mut initial = Initial::None;
    step_by_step(trace, |step, lines| {
        if initial == Initial::None {
            initial = match step.iter().find(|&&word| word != "during") {
                Some(&"replace") => Initial::Waits,
                Some(&("add" | "update" | "delete" | "gone" | "close" | "wait-close")) => {
                    Initial::Over
                }
                _ => Initial::None,
            };
        }
        let mut moved = Vec::new();
        let mut owed = false;
        for line in lines {
            let happens_with = ["bookmark ", "rejected ", "taken"];
            if owed && !happens_with.iter().any(|prefix| line.starts_with(prefix)) {
                moved.push("synced".to_owned());
                owed = false;
            }
            if line == "synced" && initial == Initial::Waits {
                initial = Initial::Overtaken;
                continue;
            }
            let (line, is_list) = as_initial(line, initial);
            if is_list {
                owed = initial == Initial::Overtaken;
                initial = Initial::Over;
            }
            moved.push(line);
        }
        moved.extend(owed.then(|| "synced".to_owned()));
        moved
    })
}

/// A line of what was taken; whether it was a list.
fn as_initial(line: String, initial: Initial) -> (String, bool) {
    let (failed, rest) = without(&line, "failed ");
    let (is_initial, rest) = without(rest, "initial ");
    let (is_list, is_resync) = (rest.starts_with("list "), rest == "resync");
    if initial != Initial::Overtaken || is_initial || !(is_list || is_resync) {
        return (line, is_list);
    }
    let failed = if failed { "failed " } else { "" };
    (format!("{failed}initial {rest}"), is_list)
}
