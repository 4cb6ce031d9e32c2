//! What shows that the store keeps its invariants, and that the showing can fail.
//!
//! `model` is the naive store, `history` runs a history through both and compares everything that
//! can be asked, `random` makes histories, `exhaustive` enumerates the short ones, `fuzzed` reads
//! them out of a fuzzer's numbers, `caught` shows that each planted defect is found by the same
//! checks, `readers` looks on from other threads.

#[cfg(test)]
mod caught;
#[cfg(test)]
mod exhaustive;
#[cfg(fuzzing)]
pub mod fuzzed;
mod history;
mod model;
#[cfg(test)]
mod random;
#[cfg(test)]
mod readers;
#[cfg(all(test, shuttle))]
mod shuttle;
