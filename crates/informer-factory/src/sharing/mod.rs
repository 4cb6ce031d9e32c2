//! Shares informers: equal requests to one factory get one informer.

pub(crate) mod assembly;
pub(crate) mod builder;
pub(crate) mod factory;
pub(crate) mod key;
pub(crate) mod registry;
