//! The levels `processor` and `informer`: one shared informer over an API server in memory, under
//! virtual time. On the first the server does nothing wrong.

mod failures;
mod fault;
mod form;
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
use k8s_openapi::api::core::v1::ConfigMap;

use self::form::PackedConfigMap;
use self::play::play;
use self::settings::Settings;
use crate::level::Run;
use crate::scenario::{Malformed, Scenario};

pub use random_faults::random_faults;
pub use random_handlers::random_handlers;
pub use rules::RULES;

/// Runs our side, once with each queue, and the same with packed objects. These have no transform.
///
/// # Errors
///
/// [`Malformed`] when a step makes no sense here.
pub fn run(scenario: &Scenario) -> Result<Vec<Run>, Malformed> {
    let ways = [
        ("delta", QueueKind::DeltaFifo),
        ("in-order", QueueKind::InOrder),
    ];
    let packed = [
        ("delta packed", QueueKind::DeltaFifo),
        ("in-order packed", QueueKind::InOrder),
    ];
    let mut runs = Vec::new();
    for (way, queue) in ways {
        let trace = play::<ConfigMap>(scenario, queue)?;
        runs.push(Run { way, trace });
    }
    if Settings::of(scenario).has_transform() {
        return Ok(runs);
    }
    for (way, queue) in packed {
        let trace = play::<PackedConfigMap>(scenario, queue)?;
        runs.push(Run { way, trace });
    }
    Ok(runs)
}
