//! Proofs of the machine: a server's own history, faults by chance, and bugs planted on purpose.

#[cfg(test)]
mod caught;
#[cfg(test)]
mod exhaustive;
#[cfg(fuzzing)]
pub(crate) mod fuzzed;
mod judge;
mod model;
#[cfg(test)]
mod random;
mod run;
mod serving;
mod world;
