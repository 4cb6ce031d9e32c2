//! Model and property tests of the store.
//!
//! `model` is a naive store. `history` runs a history through the model and the store and compares
//! every answer. `random`, `large`, `exhaustive` and `fuzzed` make the histories, `caught` checks
//! that they find every planted bug, `sound` checks that the parts of a store agree, and `readers`
//! reads on other threads.

#[cfg(test)]
mod caught;
#[cfg(test)]
mod exhaustive;
#[cfg(fuzzing)]
pub mod fuzzed;
mod history;
#[cfg(test)]
mod large;
mod model;
#[cfg(test)]
mod random;
#[cfg(test)]
mod readers;
#[cfg(all(test, shuttle))]
mod shuttle;
pub(crate) mod sound;

use crate::table::shape::{Shape, Shipped};

/// A shape in which short histories split, join and renew every structure.
pub(crate) enum Small {}

impl Shape for Small {
    const LEAF_BITS: u32 = 1;
    const FAN_BITS: u32 = 1;
    const LONGEST: usize = 8;
    const CROWDED: usize = 4;
    const MANY_HOLES: usize = 4;
    const AHEAD: usize = 3;
    const MANY: usize = 3;
}

/// Runs a history in both shapes; the error is the first difference.
fn run(steps: &[model::Step]) -> Result<(), String> {
    history::History::<Small>::run(steps)?;
    history::History::<Shipped>::run(steps).map_err(|what| format!("shipped shape: {what}"))
}
