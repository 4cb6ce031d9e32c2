//! Applies received changes: from a lease of the queue to one commit and one distribution.

pub(crate) mod applier;
pub(crate) mod apply;
pub(crate) mod arrival;
pub(crate) mod epochs;
pub(crate) mod probe;
pub(crate) mod quarantine;
mod replay;
pub(crate) mod source_entries;
pub(crate) mod verdict;
