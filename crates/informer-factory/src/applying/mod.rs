//! Applies received changes: from a lease of the queue to one commit and one distribution.

pub(crate) mod applier;
pub(crate) mod apply;
pub(crate) mod epochs;
pub(crate) mod exchange;
mod listed;
pub(crate) mod probe;
pub(crate) mod quarantine;
pub(crate) mod received_item;
mod replay;
pub(crate) mod verdict;

use informer_store::{Entries, Scope, Snapshot};

/// What a store holds of one source, in key order. The source of a namespace
/// receives no keys of another namespace.
// FM-14
pub(crate) fn source_entries<'s, T>(store: &'s Snapshot<T>, scope: &Scope) -> Entries<'s, T> {
    match scope {
        Scope::All => store.iter(),
        Scope::Namespace(namespace) => store.namespace(namespace),
    }
}
