//! Model tests of the machine: a server with a full history, random faults, and planted bugs.

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
