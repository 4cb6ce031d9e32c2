//! The reading half of a store: readers, snapshots, cursors and listers.

pub(crate) mod cursor;
pub(crate) mod lister;
pub(crate) mod memory;
pub(crate) mod reader;
pub(crate) mod snapshot;
