//! Placeholder until the level is written.

use crate::level::Run;
use crate::rules::Rule;
use crate::scenario::{Malformed, Scenario};

/// The rules of this level.
pub const RULES: &[Rule] = &[];

/// Runs our side.
///
/// # Errors
///
/// [`Malformed`] when a step makes no sense here.
pub fn run(_scenario: &Scenario) -> Result<Vec<Run>, Malformed> {
    Ok(Vec::new())
}

/// A scenario by chance.
pub fn random_faults(_seed: u64) -> Scenario {
    Scenario {
        name: "random".to_owned(),
        covers: Vec::new(),
        settings: Vec::new(),
        steps: Vec::new(),
    }
}

/// A scenario by chance, of handlers that come and go.
pub fn random_handlers(seed: u64) -> Scenario {
    random_faults(seed)
}
