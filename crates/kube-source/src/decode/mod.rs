//! One object: its identity, and its decoded value or the reason why it has none.

#[macro_use]
mod forward;

pub(crate) mod decoder;
pub(crate) mod envelope;
pub(crate) mod json_text;
pub(crate) mod measure;
pub(crate) mod message;
pub(crate) mod object;
pub(crate) mod on_demand;
pub(crate) mod ordered_jobs;
pub(crate) mod partial;
pub(crate) mod separator;
pub(crate) mod serde;
pub(crate) mod shape;
pub(crate) mod tape;
