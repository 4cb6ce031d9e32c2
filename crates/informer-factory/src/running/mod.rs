//! Runs an informer: its tasks, its sources, and how both start and stop.

pub(crate) mod adapters;
pub(crate) mod core;
pub(crate) mod flood;
pub(crate) mod launch;
pub(crate) mod renewal;
pub(crate) mod resync;
pub(crate) mod sampler;
pub(crate) mod shutdown;
pub(crate) mod source_tasks;
pub(crate) mod sources;
