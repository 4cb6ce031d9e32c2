//! Answers in protobuf: lists, watches and refusals, and the faults in them.
#![allow(
    clippy::unwrap_used,
    reason = "a helper of tests that cannot go on has failed"
)]

mod answers;
mod asking;
mod faults;
