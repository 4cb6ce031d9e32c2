//! Keys whose newest version cannot be decoded or applied.
//!
//! Such a key is reported, its last good version stays in the store, and no other key is affected.
//! It is released by a good version, a delete, or a relist without it. Of a flood
//! the reasons of the first keys are kept, and of the rest the keys alone.

// IN-7, FM-53, FM-54, SEC-23

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
///
/// ```
/// # use informer_factory::SharedInformer;
/// # use k8s_openapi::api::core::v1::Pod;
/// # fn example(pods: &SharedInformer<Pod>) {
/// for quarantined in pods.quarantined() {
///     eprintln!("{} at {}: {}", quarantined.key, quarantined.version, quarantined.reason);
/// }
/// # }
/// # let _ = example;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quarantined {
    /// The object's key.
    pub key: ObjectKey,
    /// The unusable version; unset if it is unknown.
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
    listed: BTreeMap<ObjectKey, Quarantined>,
    /// Keys for whose reasons there was no room.
    more: HashSet<ObjectKey>,
    /// A task lists again until these have gone.
    is_attended: bool,
}

impl Quarantine {
    /// An empty quarantine, with room for the reasons of `most` keys.
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
        key: &ObjectKey,
        version: &ResourceVersion,
        reason: &QuarantineReason,
    ) -> bool {
        let mut kept = self.lock();
        if kept.listed.len() >= self.most.get() && !kept.listed.contains_key(key) {
            kept.more.insert(key.clone());
            return false;
        }
        kept.more.remove(key);
        let quarantined = Quarantined {
            key: key.clone(),
            version: version.clone(),
            reason: reason.clone(),
        };
        let before = kept.listed.insert(key.clone(), quarantined);
        before.is_none_or(|before| before.version != *version || before.reason != *reason)
    }

    /// Releases a key. With `is_stored` its stored version was received again: the indexes do not
    /// see it again, so a key that gives too many values stays.
    pub(crate) fn release(&self, key: &ObjectKey, is_stored: bool) {
        let mut kept = self.lock();
        let stays = |quarantined: &Quarantined| {
            is_stored && matches!(quarantined.reason, QuarantineReason::TooManyValues { .. })
        };
        if !kept.listed.get(key).is_some_and(stays) {
            kept.listed.remove(key);
            kept.more.remove(key);
        }
    }

    /// Releases all keys that `keep` does not hold for.
    pub(crate) fn retain(&self, keep: impl Fn(&ObjectKey) -> bool) {
        let mut kept = self.lock();
        kept.listed.retain(|key, _| keep(key));
        kept.more.retain(keep);
    }

    /// The keys with a reason, in key order.
    pub(crate) fn list(&self) -> Vec<Quarantined> {
        self.lock().listed.values().cloned().collect()
    }

    /// All keys.
    pub(crate) fn keys(&self) -> HashSet<ObjectKey> {
        let kept = self.lock();
        kept.listed.keys().chain(&kept.more).cloned().collect()
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        let kept = self.lock();
        kept.listed.len() + kept.more.len()
    }

    /// Whether a flood begins: there is no room for the reasons of all keys, and nothing lists
    /// again because of it.
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
        // No user code runs under this lock, so a poisoned map is still whole.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
