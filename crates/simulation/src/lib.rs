//! The whole facade against an API server in memory, with faults, time and chance from one seed.
//!
//! One seed is one `Plan`, one run of it under tokio's paused clock through the real HTTP path with
//! JSON or protobuf, and one verdict of the `oracle` files, which share no code
//! with what they judge. First the faults of `fault_kind.rs` happen, then all is healed and the
//! store has to become what the server holds. The same seed gives the same run, to the byte.
//!
//! [`simulate`] is all there is to call; the program of this crate calls it for many seeds.
#![forbid(unsafe_code)]

mod acting;
mod canary;
mod cells;
mod chance;
mod controlling;
mod drawing;
mod evidence;
mod fault_kind;
mod gathering;
mod healing;
mod listener;
mod lookout;
#[cfg(sim)]
mod mutant;
mod object;
mod oracle;
mod packed;
mod plan;
mod requests;
mod run;
mod sampling;
mod scripting;
mod story;
mod tally;
mod trace;
mod truth;
mod wires;
mod writing;

pub use canary::{Searched, listen, searched};
pub use cells::Cells;
pub use fault_kind::FaultKind;
#[cfg(sim)]
pub use mutant::Mutant;
pub use oracle::Violation;
pub use packed::Packings;
pub use run::{Outcome, Packing, simulate, simulate_twice};
pub use tally::Tally;
pub use wires::Wires;

/// Seeds that failed once, one a line; whatever comes after `#` says why.
pub const REGRESSIONS: &str = include_str!("../regressions.txt");

/// The seeds of a list such as [`REGRESSIONS`].
pub fn seeds_of(list: &str) -> Vec<u64> {
    let lines = list
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter_map(|line| line.parse().ok()).collect()
}
