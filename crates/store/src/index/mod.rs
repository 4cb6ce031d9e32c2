//! Named indexes: their definitions, their buckets and the handles to them.

pub(crate) mod definition;
pub(crate) mod handle;
pub(crate) mod prepared;
