//! Bad input and failure, through the whole HTTP path, with both queues, under a paused clock: what
//! servers, objects and callers get wrong. Each is a typed error or a quarantined key; nothing is
//! lost, nothing panics that should not, and nobody is asked in a hot loop.

#[path = "../cluster/mod.rs"]
mod cluster;

mod answers;
mod callers;
mod drops;
mod indexes;
mod lives;
mod objects;
mod panics;
mod replicas;
mod rewind;
mod shared;
mod supervision;
mod world;
