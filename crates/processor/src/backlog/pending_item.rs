//! One entry of a coalescing buffer, and how a merge changes it.
//!
//! Until a merge the entry is the notification that all listeners share. The first merge makes it a
//! notification of its own, later ones change that in place. A handler that keeps up therefore
//! costs no allocation, and a slow one costs one per entry, not one per change.
//!
//! The caller receives the values that a merge displaces. Their drops may run user code, which must
//! not happen under a listener's lock.

use std::sync::Arc;

use crate::backlog::compress::Merge;
use crate::notification::{Added, Cause, Deleted, Notification, Updated};

/// A value that a merge no longer needs. It is dropped outside the lock, because the drop may run
/// user code.
pub(crate) enum Displaced<K, T> {
    Item { _later: Item<K, T> },
    Object { _later: Arc<T> },
}

/// A pending notification: the one that all listeners share, or one made by a merge.
pub(crate) enum Item<K, T> {
    Shared(Arc<Notification<K, T>>),
    Owned(Notification<K, T>),
}

impl<K, T> Item<K, T> {
    pub(crate) fn get(&self) -> &Notification<K, T> {
        match self {
            Self::Shared(shared) => shared,
            Self::Owned(owned) => owned,
        }
    }

    pub(crate) fn into_arc(self) -> Arc<Notification<K, T>> {
        match self {
            Self::Shared(shared) => shared,
            Self::Owned(owned) => Arc::new(owned),
        }
    }

    pub(crate) fn displaced(self) -> Displaced<K, T> {
        Displaced::Item { _later: self }
    }

    pub(crate) fn replace(&mut self, item: Self, displaced: &mut Vec<Displaced<K, T>>) {
        displaced.push(std::mem::replace(self, item).displaced());
    }
}

impl<K: Clone, T> Item<K, T> {
    /// Makes the pending entry an addition of `object`. Copies the key at the first merge only.
    pub(crate) fn become_added(
        &mut self,
        object: Arc<T>,
        initial: bool,
        displaced: &mut Vec<Displaced<K, T>>,
    ) {
        if let Self::Owned(Notification::Added(added)) = self {
            added.initial = initial;
            let _later = std::mem::replace(&mut added.object, object);
            return displaced.push(Displaced::Object { _later });
        }
        let added = Added::new(self.get().key().clone(), object).initial(initial);
        self.replace(Self::Owned(added.into()), displaced);
    }

    /// Makes the pending entry an update to a newer state. Copies the key at the first merge only.
    pub(crate) fn become_updated(
        &mut self,
        old: Arc<T>,
        new: Arc<T>,
        cause: Cause,
        displaced: &mut Vec<Displaced<K, T>>,
    ) {
        if let Self::Owned(Notification::Updated(updated)) = self {
            // The same object: nothing is freed here.
            (updated.old, updated.cause) = (old, cause);
            let _later = std::mem::replace(&mut updated.new, new);
            return displaced.push(Displaced::Object { _later });
        }
        let updated = Updated::new(self.get().key().clone(), old, new, cause);
        self.replace(Self::Owned(updated.into()), displaced);
    }

    /// Makes the pending entry a deletion whose final state is unknown.
    pub(crate) fn become_unknown(&mut self, last: Arc<T>, displaced: &mut Vec<Displaced<K, T>>) {
        let (key, last) = (self.get().key().clone(), Some(last));
        let deleted = Deleted::Unknown { key, last };
        self.replace(Self::Owned(deleted.into()), displaced);
    }
}

/// Returns how many of two notifications were initial and will not be delivered as such, so that
/// "synced" must not wait for them.
pub(crate) fn settled<K, T>(
    older: &Notification<K, T>,
    newer: &Notification<K, T>,
    merge: &Merge<T>,
) -> u64 {
    let (older, newer) = (u64::from(older.is_initial()), u64::from(newer.is_initial()));
    let left = match merge {
        Merge::KeepOlder | Merge::AppendAdded(_) => older,
        Merge::KeepNewer => newer,
        Merge::Added(_, initial) => u64::from(*initial),
        Merge::Append => older + newer,
        Merge::Annihilate if planted!(AnnihilationUnsettled) => older + newer,
        Merge::Updated(..) | Merge::Unknown(_) | Merge::Annihilate => 0,
    };
    older + newer - left
}
