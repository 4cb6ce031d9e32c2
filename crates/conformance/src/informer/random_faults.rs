//! Placeholder until it is written.
use crate::scenario::Scenario;
/// A scenario by chance.
pub fn random_faults(_seed: u64) -> Scenario {
    Scenario {
        name: "random".to_owned(),
        covers: Vec::new(),
        settings: Vec::new(),
        steps: Vec::new(),
    }
}
