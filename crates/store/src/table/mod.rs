//! The persistent structures that hold the records of one state.
//!
//! Each structure is cheap to clone and copies only the part that a change touches. None of them
//! depends on batches, readers or indexes. `docs/adr/0002-store-structure.md` has the figures.

pub(crate) mod hashes;
pub(crate) mod ids;
pub(crate) mod items;
pub(crate) mod join;
pub(crate) mod record;
pub(crate) mod records;
pub(crate) mod shape;
pub(crate) mod slots;
pub(crate) mod values;
