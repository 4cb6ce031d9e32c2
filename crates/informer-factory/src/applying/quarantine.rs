//! Keys whose newest version cannot be decoded or applied (IN-7).
//!
//! Such a key is told to the operator, its last good version stays in the store, and it poisons
//! nothing else (FM-53, FM-54). It leaves when a good version, a delete, or a relist without it
//! comes. Of a flood of them the reasons of the first are kept, and of the rest the keys (SEC-23).

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use informer_reflector::{DecodeError, ResourceVersion};
use informer_store::ObjectKey;

/// Why a key is quarantined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuarantineReason {
    /// The object could not be decoded.
    #[error(transparent)]
    Undecodable(DecodeError),
    /// Applying it failed again and again: an index function panics on it.
    #[error("applying it failed {attempts} times; an index function panics on it")]
    Unappliable {
        /// How often it was tried.
        attempts: u32,
    },
    /// It gives an index more values than
    /// [`InformerOptions::index_values`](crate::InformerOptions::index_values) allows. A new
    /// version is not stored; an object stored before the index was added has no value in it.
    #[error("it gives an index over {most} values")]
    TooManyValues {
        /// The number of values one object may give one index.
        most: NonZeroUsize,
    },
}

/// One quarantined key. Shows no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quarantined {
    /// The object's key.
    pub key: ObjectKey,
    /// The version that is of no use; unset where it is not known.
    pub version: ResourceVersion,
    /// Why.
    pub reason: QuarantineReason,
}

/// The quarantine of one informer.
pub(crate) struct Quarantine {
    most: NonZeroUsize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    told: BTreeMap<ObjectKey, Quarantined>,
    /// Those for whose reasons there was no room.
    more: HashSet<ObjectKey>,
    /// Somebody looks after those.
    is_attended: bool,
}

impl Quarantine {
    /// An empty one, with room for the reasons of so many keys.
    pub(crate) fn new(most: NonZeroUsize) -> Self {
        Self {
            most,
            kept: Mutex::default(),
        }
    }

    /// Adds a key, or replaces its reason. Returns false if it was in for this version and reason
    /// already, or there is no room for the reason.
    pub(crate) fn put(
        &self,
        key: ObjectKey,
        version: ResourceVersion,
        reason: QuarantineReason,
    ) -> bool {
        let quarantined = Quarantined {
            key,
            version,
            reason,
        };
        let mut kept = self.lock();
        let key = &quarantined.key;
        if kept.told.len() >= self.most.get() && !kept.told.contains_key(key) {
            kept.more.insert(key.clone());
            return false;
        }
        kept.more.remove(key);
        let is_news = kept.told.get(key) != Some(&quarantined);
        kept.told.insert(quarantined.key.clone(), quarantined);
        is_news
    }

    /// Releases a key.
    pub(crate) fn release(&self, key: &ObjectKey) {
        self.release_if(key, |_| true);
    }

    /// Releases a key whose stored version was received again: the indexes do not see it again, so
    /// a key that gives too many values stays.
    pub(crate) fn release_kept(&self, key: &ObjectKey) {
        self.release_if(key, |reason| {
            !matches!(reason, QuarantineReason::TooManyValues { .. })
        });
    }

    fn release_if(&self, key: &ObjectKey, may_leave: impl Fn(&QuarantineReason) -> bool) {
        let mut kept = self.lock();
        if kept
            .told
            .get(key)
            .is_none_or(|quarantined| may_leave(&quarantined.reason))
        {
            kept.told.remove(key);
            kept.more.remove(key);
        }
    }

    /// Lets go of all keys that `keep` does not want.
    pub(crate) fn retain(&self, keep: impl Fn(&ObjectKey) -> bool) {
        let mut kept = self.lock();
        kept.told.retain(|key, _| keep(key));
        kept.more.retain(keep);
    }

    /// Those with a reason, in key order.
    pub(crate) fn list(&self) -> Vec<Quarantined> {
        self.lock().told.values().cloned().collect()
    }

    /// All keys.
    pub(crate) fn keys(&self) -> HashSet<ObjectKey> {
        let kept = self.lock();
        kept.told.keys().chain(&kept.more).cloned().collect()
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        let kept = self.lock();
        kept.told.len() + kept.more.len()
    }

    /// Whether there is no room for the reasons of all, and nobody has been told so yet.
    pub(crate) fn begin_flood(&self) -> bool {
        let mut kept = self.lock();
        let begins = !kept.more.is_empty() && !kept.is_attended;
        kept.is_attended |= begins;
        begins
    }

    /// Whether there is room for the reasons of all again; the next flood is then another one.
    pub(crate) fn has_flood_ended(&self) -> bool {
        let mut kept = self.lock();
        kept.is_attended = !kept.more.is_empty();
        !kept.is_attended
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // No code of others runs under this lock, so a poisoned map is still whole.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
