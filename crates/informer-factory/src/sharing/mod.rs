//! Shares informers: equal requests to one factory get one informer.

pub(crate) mod assembly;
pub(crate) mod builder;
pub(crate) mod factory;
pub(crate) mod key;
mod make;
#[cfg(feature = "packed")]
mod packed;
pub(crate) mod registry;
