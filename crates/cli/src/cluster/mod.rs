//! The cluster a command works on: how it is reached, what it has, and what the command line means.

pub(crate) mod catalog;
pub(crate) mod connect;
pub(crate) mod discovery;
pub(crate) mod explain;
mod near;
pub(crate) mod resource;
pub(crate) mod scope;
pub(crate) mod selection;
