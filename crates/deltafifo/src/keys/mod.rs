//! Keys: how they are hashed, and the two structures that look them up.

pub(crate) mod hash;
pub(crate) mod index;
pub(crate) mod pending_map;
