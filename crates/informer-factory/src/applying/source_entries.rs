//! The part of the store that one source fills.

use informer_store::{Entries, Scope, Snapshot};

/// What a store holds of one source, in key order. A namespace's source never hears of the keys of
/// another namespace (FM-14).
pub(crate) fn source_entries<'s, T>(store: &'s Snapshot<T>, scope: &Scope) -> Entries<'s, T> {
    match scope {
        Scope::All => store.iter(),
        Scope::Namespace(namespace) => store.namespace(namespace),
    }
}
