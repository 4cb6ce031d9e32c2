//! D-11: `DeltaFIFO`'s latch closes while the last initial item is still being processed.

use super::step_by_step;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// The line stands behind the item anyway.
pub(super) fn after_processing(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    if scenario.setting("queue") == Some("in-order") {
        return trace;
    }
    step_by_step(trace, |_, lines| {
        let late = |line: String| match line.as_str() {
            "synced early" => "synced".to_owned(),
            _ => line,
        };
        lines.into_iter().map(late).collect()
    })
}
