//! One scenario, two informers: client-go's and ours. What differs must be in
//! `docs/DIVERGENCES.md`, with a rule that turns client-go's trace into ours.
//!
//! A [`Scenario`] is data; `SCENARIOS.md` beside this crate is its language. Either side runs it
//! and writes a [`Trace`]. [`compare()`] applies the [`Rule`]s to client-go's trace and wants
//! ours to be equal to the result, line by line.
//!
//! Nothing here is published, and no Go is needed for the tests: client-go's traces are stored in
//! `golden`. `cargo xtask conformance record` makes them anew.
#![forbid(unsafe_code)]

mod compare;
pub mod coverage;
pub mod documents;
pub mod files;
pub mod informer;
mod judge;
mod level;
pub mod queue;
mod rules;
mod scenario;
mod shrink;
pub mod store;
mod stored;
mod trace;

pub use compare::{Difference, Verdict, compare};
pub use judge::{Judge, JudgeError};
pub use level::{Level, Run};
pub use rules::{Rule, rules_of};
pub use scenario::{Malformed, Scenario, Step, parse_scenarios, render_scenarios};
pub use shrink::shrink;
pub use stored::{Stored, check_stored};
pub use trace::Trace;
