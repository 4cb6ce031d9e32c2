//! The levels `processor` and `informer`: one shared informer over an API server in memory, under
//! virtual time. On the first the server does nothing wrong.

mod failures;
mod fault;
mod listener;
mod object_text;
pub mod over_http;
mod play;
mod random_faults;
mod random_handlers;
mod random_writes;
mod requests;
mod rules;
mod server_steps;
mod settings;

use informer_factory::QueueKind;

use crate::level::Run;
use crate::scenario::{Malformed, Scenario};

pub use random_faults::random_faults;
pub use random_handlers::random_handlers;
pub use rules::RULES;

/// Runs our side, once with each queue.
///
/// # Errors
///
/// [`Malformed`] when a step makes no sense here.
pub fn run(scenario: &Scenario) -> Result<Vec<Run>, Malformed> {
    let ways = [
        ("delta", QueueKind::DeltaFifo),
        ("in-order", QueueKind::InOrder),
    ];
    let one = |(way, queue)| play::play(scenario, queue).map(|trace| Run { way, trace });
    ways.into_iter().map(one).collect()
}
