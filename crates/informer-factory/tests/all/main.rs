//! The facade over the API server in memory, from the outside.
//!
//! One program: each that uses the facade compiles all of it once more, for its own types.

#[path = "../cluster/mod.rs"]
mod cluster;

mod any_moment;
mod change_consumer;
mod consistency;
mod crowd;
mod decoded;
mod facade;
mod http;
mod lifecycle;
mod metrics;
#[cfg(feature = "packed")]
mod packed;
#[cfg(feature = "packed")]
mod packed_kinds;
mod rbac;
mod runtimes;
mod scopes;
mod wire;
