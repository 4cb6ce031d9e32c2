//! What shows that the store keeps its invariants, and that the showing can fail.
//!
//! `model` is the naive store, `history` runs a history through both and compares everything that
//! can be asked, `random` makes histories, `exhaustive` enumerates the short ones, `planted` shows
//! that each known defect is found by the same checks, `readers` looks on from other threads.

mod exhaustive;
mod history;
mod model;
mod planted;
mod random;
mod readers;
