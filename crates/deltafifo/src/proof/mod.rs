//! Skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {}
