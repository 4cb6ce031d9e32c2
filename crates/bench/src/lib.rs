//! What measuring takes: pods as a cluster has them, a server that costs next to nothing, and the
//! frame in which one program per peer reports what it used.
//!
//! The server is neutral: it copies bytes that were made before, for whoever asks, and says how
//! much processor time that took. `cargo xtask bench` runs server and drivers.

pub mod answer;
pub mod batches;
pub mod beside;
pub mod chance;
pub mod collection;
pub mod command_line;
pub mod control;
pub mod floor;
pub mod history;
pub mod idle;
pub mod late;
pub mod measure;
pub mod parts;
pub mod phases;
pub mod pod;
pub mod processor;
pub mod protobuf;
pub mod query;
pub mod resource;
pub mod server;
pub mod small_pod;
pub mod tally;
