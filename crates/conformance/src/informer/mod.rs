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

use informer_factory::{QueueKind, WireFormat};
use k8s_openapi::api::core::v1::ConfigMap;

use self::form::PackedConfigMap;
use self::play::play;
use self::settings::Settings;
use crate::level::Run;
use crate::scenario::{Malformed, Scenario};

pub use random_faults::random_faults;
pub use random_handlers::random_handlers;
pub use rules::RULES;

/// Runs our side with each queue, and the same with packed objects. These have no transform.
///
/// Each of the four runs has one of the two formats on the wire, so that either queue and either
/// form of objects is judged in both.
///
/// # Errors
///
/// [`Malformed`] when a step makes no sense here.
pub fn run(scenario: &Scenario) -> Result<Vec<Run>, Malformed> {
    let typed = [
        ("delta", QueueKind::DeltaFifo, WireFormat::Protobuf),
        ("in-order", QueueKind::InOrder, WireFormat::Json),
    ];
    let packed = [
        ("delta packed", QueueKind::DeltaFifo, WireFormat::Json),
        ("in-order packed", QueueKind::InOrder, WireFormat::Protobuf),
    ];
    let mut runs = Vec::new();
    for (way, queue, wire) in typed {
        let trace = play::<ConfigMap>(scenario, queue, wire)?;
        runs.push(Run { way, trace });
    }
    if Settings::of(scenario).has_transform() {
        return Ok(runs);
    }
    for (way, queue, wire) in packed {
        let trace = play::<PackedConfigMap>(scenario, queue, wire)?;
        runs.push(Run { way, trace });
    }
    Ok(runs)
}
