//! D-12: client-go's closed queue takes what is brought; ours gives it back.

use super::line::each_taken;
use super::step_by_step;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// What was brought after the end carries a `~`.
pub(super) fn refuse(_: &Scenario, _: &str, trace: Trace) -> Trace {
    step_by_step(trace, |_, lines| {
        let answered = lines.into_iter().map(|line| match line.as_str() {
            "taken" => "error closed".to_owned(),
            _ => line,
        });
        each_taken(answered.collect(), |taken| {
            taken.deltas.retain(|delta| !delta.ends_with('~'));
        })
    })
}
