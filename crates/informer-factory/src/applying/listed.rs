//! Leases of the queue that contain nothing but a list.

use informer_deltafifo::{Delta, Item};
use informer_store::ObjectKey;

use crate::applying::received_item::ReceivedItem;

/// Whether an item contains nothing but listed objects.
pub(crate) fn is_relist<T>(item: &Item<ObjectKey, ReceivedItem<T>>) -> bool {
    match item {
        Item::Key { deltas, .. } => deltas
            .iter()
            .all(|delta| matches!(delta, Delta::Replaced(_))),
        Item::Replace { .. } => true,
        Item::Resync => false,
    }
}

/// Whether each item is one object under a key of its own. Such keys are recognised by their
/// order, which is the usual one of a list.
pub(crate) fn are_distinct<T>(items: &[&Item<ObjectKey, ReceivedItem<T>>]) -> bool {
    let mut last = None;
    items.iter().all(|item| match item {
        Item::Key { key, deltas } if deltas.len() == 1 => {
            let before = last.replace(key);
            before.is_none_or(|before| before < key)
        }
        _ => false,
    })
}
