//! Connects two layers that do not depend on each other: one newtype per port.

mod known_keys;
mod queue_sink;
mod store_reuse;

pub(crate) use known_keys::KnownKeys;
pub(crate) use queue_sink::QueueSink;
pub(crate) use store_reuse::{FoundState, StoreReuse};
