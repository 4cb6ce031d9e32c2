//! Proof of the apply step: random leases against a naive model written from the ids of the spec,
//! and against invariants that know nothing of the model; each shown to find planted bugs.

mod history;
mod invariants;
mod model;
mod planted;
mod random;
mod run;
#[cfg(shuttle)]
pub(crate) mod shuttle;
mod sources;
