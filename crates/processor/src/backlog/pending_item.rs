//! One entry of a coalescing buffer, and how a merge changes it.
//!
//! As long as nothing was merged it is the notification that all listeners share; the first merge
//! makes it a notification of its own, later ones change that in place. So a handler that keeps up
//! costs no allocation, and one that does not costs one per entry, not one per change.
//!
//! What a merge displaces is handed out: its drop may run user code, which must not happen under a
//! listener's lock.

use std::sync::Arc;

use crate::backlog::compress::Merge;
use crate::notification::{Cause, Deleted, Notification};

/// Something a merge no longer needs. Its drop may run user code, so it leaves the lock first.
pub(crate) enum Displaced<K, T> {
    Item { _later: Item<K, T> },
    Object { _later: Arc<T> },
}

/// A waiting notification: still the one all listeners share, or one made by a merge.
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
    /// Makes the waiting addition one of `object`. Copies the key at the first merge only.
    pub(crate) fn become_added(
        &mut self,
        object: Arc<T>,
        initial: bool,
        displaced: &mut Vec<Displaced<K, T>>,
    ) {
        if let Self::Owned(Notification::Added {
            object: waiting,
            initial: flag,
            ..
        }) = self
        {
            displaced.push(Displaced::Object {
                _later: std::mem::replace(waiting, object),
            });
            *flag = initial;
            return;
        }
        let key = self.get().key().clone();
        self.replace(
            Self::Owned(Notification::Added {
                key,
                object,
                initial,
            }),
            displaced,
        );
    }

    /// Makes the waiting update one to a newer state. Copies the key at the first merge only.
    pub(crate) fn become_updated(
        &mut self,
        old: Arc<T>,
        new: Arc<T>,
        cause: Cause,
        displaced: &mut Vec<Displaced<K, T>>,
    ) {
        if let Self::Owned(Notification::Updated {
            old: from,
            new: to,
            cause: why,
            ..
        }) = self
        {
            displaced.push(Displaced::Object {
                _later: std::mem::replace(to, new),
            });
            // The same object: nothing is freed here.
            *from = old;
            *why = cause;
            return;
        }
        let key = self.get().key().clone();
        self.replace(
            Self::Owned(Notification::Updated {
                key,
                old,
                new,
                cause,
            }),
            displaced,
        );
    }

    /// Makes the waiting update a deletion whose final state is unknown.
    pub(crate) fn become_unknown(&mut self, last: Arc<T>, displaced: &mut Vec<Displaced<K, T>>) {
        let (key, last) = (self.get().key().clone(), Some(last));
        let deleted = Notification::Deleted(Deleted::Unknown { key, last });
        self.replace(Self::Owned(deleted), displaced);
    }
}

/// How many of two notifications were initial and will not be delivered as such: whoever counts
/// them must not wait for them (design 6.13).
pub(crate) fn settled<K, T>(
    older: &Notification<K, T>,
    newer: &Notification<K, T>,
    merge: &Merge<T>,
) -> u64 {
    let left = match merge {
        Merge::KeepOlder => u64::from(older.is_initial()),
        Merge::KeepNewer => u64::from(newer.is_initial()),
        Merge::Added(_, initial) => u64::from(*initial),
        Merge::Updated(..) | Merge::Unknown(_) => 0,
        Merge::Append => u64::from(older.is_initial()) + u64::from(newer.is_initial()),
        Merge::AppendAdded(_) => u64::from(older.is_initial()),
        Merge::Annihilate if planted!(AnnihilationUnsettled) => return 0,
        Merge::Annihilate => 0,
    };
    u64::from(older.is_initial()) + u64::from(newer.is_initial()) - left
}
