//! D-61: a `DeltaFIFO` that is not told to say `Replaced` says `Sync` for what a list brings.

use super::line::each_taken;
use super::step_by_step;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) fn always_replaced(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    if scenario.setting("replaced") != Some("no") {
        return trace;
    }
    step_by_step(trace, |_, lines| {
        each_taken(lines, |taken| {
            for delta in &mut taken.deltas {
                if let Some(version) = delta.strip_prefix("Sync@") {
                    *delta = format!("Replaced@{version}");
                }
            }
        })
    })
}
