//! The rules that turn client-go's trace into ours: one for each intended difference.

use crate::level::Level;
use crate::scenario::Scenario;
use crate::trace::Trace;
use crate::{informer, queue, store};

/// One intended difference, as a function.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The row of `docs/DIVERGENCES.md`.
    pub row: &'static str,
    /// What it does, in a few words.
    pub name: &'static str,
    /// Turns client-go's trace into ours, as far as this difference goes. `way` is [`Run::way`].
    ///
    /// [`Run::way`]: crate::Run::way
    pub apply: fn(scenario: &Scenario, way: &str, trace: Trace) -> Trace,
}

/// The rules of a level, in the order in which they are applied.
pub fn rules_of(level: Level) -> &'static [Rule] {
    match level {
        Level::Queue => queue::RULES,
        Level::Store => store::RULES,
        Level::Processor | Level::Informer => informer::RULES,
    }
}
