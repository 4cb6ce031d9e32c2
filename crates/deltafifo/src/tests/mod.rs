//! Proofs: naive models, random histories, all short histories, planted bugs.
//!
//! The models are written from the ids of the behaviour list (DF, RF, FQ, FM-48..50) and
//! share no code with the queues: a pending change is an entry of one plain list, and every
//! question is answered by walking it.
//!
//! - `model`: what both models are, and the store that a consumer fills.
//! - `fifo_model`, `in_order_model`: the two queues, naively.
//! - `judged`: what the proofs ask of a queue beyond its trait.
//! - `world`: a queue, its model and its consumer side by side; every step is compared.
//! - `one_step`: a relist becomes visible in one step.
//! - `random`: long random histories. `exhaustive`: all short ones. `fuzzed`: a fuzzer's.
//! - `caught`: they find each planted bug.

#[cfg(test)]
mod caught;
#[cfg(test)]
mod exhaustive;
mod fifo_model;
#[cfg(fuzzing)]
pub mod fuzzed;
mod in_order_model;
mod judged;
mod model;
mod one_step;
#[cfg(test)]
mod random;
#[cfg(all(test, shuttle))]
mod shuttle;
#[cfg(test)]
mod unlocked;
mod world;
