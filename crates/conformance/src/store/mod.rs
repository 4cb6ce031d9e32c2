//! The level `store`: objects under keys, with indexes, and the listers over them.
//!
//! client-go's side is an `Indexer` as its informers have it; ours is the store and the listers of
//! the facade. The vocabulary is in `SCENARIOS.md`.

mod index_function;
mod object;
mod random;
mod reads;
mod rules;
mod selector;
mod world;

pub use random::random;
pub use rules::RULES;

use crate::level::Run;
use crate::scenario::{Malformed, Scenario};
use world::World;

/// Runs our side.
///
/// # Errors
///
/// [`Malformed`] when a step makes no sense here.
pub fn run(scenario: &Scenario) -> Result<Vec<Run>, Malformed> {
    let mut world = World::new(scenario)?;
    for step in &scenario.steps {
        world.step(step)?;
    }
    Ok(vec![Run {
        way: "",
        trace: world.trace,
    }])
}
