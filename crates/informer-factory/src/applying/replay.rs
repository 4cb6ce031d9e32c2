//! Replays of a snapshot of the store as notifications, made one at a time.

use std::sync::Arc;

use informer_processor::{Added, Cause, Notification, Replay, Updated};
use informer_store::{Entry, ObjectKey, Snapshot, StoreReader};

/// Everything the snapshot holds, as additions: for the handlers of an informer whose first
/// collection it is, and for a handler that joins late.
pub(crate) fn present<T: Send + Sync + 'static>(snapshot: Snapshot<T>) -> Replay<ObjectKey, T> {
    // The number of objects stays known, for the status of the handler.
    let most = if planted!(JoinMissesPresent) {
        0
    } else {
        usize::MAX
    };
    let present = snapshot.cursor().take(most);
    Replay::new(present.map(|(key, entry)| {
        Notification::Added(Added::new(key, entry.object).initial(!planted!(InitialFlagLost)))
    }))
}

/// The objects of the snapshot that `now` still holds unchanged, as a resync.
///
/// An object that has changed since is left out: the change itself is on its way to the listener,
/// so a resync never brings back an older state.
// SI-16, PR-10, FM-50, FQ-7
pub(crate) fn unchanged<T: Send + Sync + 'static>(
    snapshot: Snapshot<T>,
    now: StoreReader<T>,
) -> Replay<ObjectKey, T> {
    Replay::new(snapshot.cursor().filter_map(move |(key, entry)| {
        let current = now.get_entry(key.as_str())?;
        is_same(&current, &entry).then(|| {
            let (old, new) = (entry.object, current.object);
            Notification::Updated(Updated::new(key, old, new, Cause::Resync))
        })
    }))
}

/// Whether the object is the same. One that was exchanged for another of the same content is.
fn is_same<T>(now: &Entry<T>, then: &Entry<T>) -> bool {
    let is_same_version = now.uid == then.uid && now.version == then.version;
    Arc::ptr_eq(&now.object, &then.object)
        || (is_same_version && !now.uid.is_unknown() && !now.version.is_unset())
}
