//! Where two layers meet that have never heard of each other: one newtype per port.

mod known_keys;
mod queue_sink;
mod store_reuse;

pub(crate) use known_keys::KnownKeys;
pub(crate) use queue_sink::QueueSink;
pub(crate) use store_reuse::StoreReuse;
