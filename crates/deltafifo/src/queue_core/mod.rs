//! The ledger of calls and the state of the initial population.

pub(crate) mod ledger;
pub(crate) mod phase;
