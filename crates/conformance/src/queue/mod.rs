//! The level `queue`: one queue alone, between one who brings changes and one who takes them.
//!
//! client-go's side is a `DeltaFIFO` or an atomic `RealFIFO` as its informers make them; ours are
//! the two queues of `informer-deltafifo`. The vocabulary is in `SCENARIOS.md`.

mod consume;
mod object;
mod produce;
mod race;
mod random;
mod rules;
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
