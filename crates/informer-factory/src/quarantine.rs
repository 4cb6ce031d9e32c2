//! Keys whose newest version cannot be decoded or applied (IN-7).
//!
//! Such a key is told to the operator, its last good version stays in the store, and it poisons
//! nothing else (FM-53, FM-54). It leaves when a good version, a delete, or a relist without it
//! comes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use informer_reflector::{DecodeError, ResourceVersion};
use informer_store::ObjectKey;

/// Why a key is quarantined.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QuarantineReason {
    /// The object could not be decoded.
    Undecodable(DecodeError),
    /// Applying it failed again and again: an index function panics on it.
    Unappliable {
        /// How often it was tried.
        attempts: u32,
    },
}

impl fmt::Display for QuarantineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undecodable(error) => error.fmt(f),
            Self::Unappliable { attempts } => {
                write!(
                    f,
                    "applying it failed {attempts} times; an index function panics on it"
                )
            }
        }
    }
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
#[derive(Default)]
pub(crate) struct Quarantine {
    keys: Mutex<BTreeMap<ObjectKey, Quarantined>>,
}

impl Quarantine {
    /// Puts a key in, or replaces the reason it is in for; false if it was in for this version.
    pub(crate) fn put(&self, key: ObjectKey, version: &Arc<str>, error: DecodeError) -> bool {
        let version = ResourceVersion::new(Arc::clone(version));
        let reason = QuarantineReason::Undecodable(error);
        let quarantined = Quarantined {
            key: key.clone(),
            version,
            reason,
        };
        let before = self.lock().insert(key, quarantined.clone());
        before.as_ref() != Some(&quarantined)
    }

    /// Puts a key in that the store could not take.
    pub(crate) fn put_unappliable(&self, key: ObjectKey, attempts: u32) {
        let reason = QuarantineReason::Unappliable { attempts };
        let version = ResourceVersion::unset();
        self.lock().insert(
            key.clone(),
            Quarantined {
                key,
                version,
                reason,
            },
        );
    }

    /// Lets a key go.
    pub(crate) fn release(&self, key: &ObjectKey) {
        self.lock().remove(key);
    }

    /// Lets go of all keys that `keep` does not want.
    pub(crate) fn retain(&self, keep: impl Fn(&ObjectKey) -> bool) {
        self.lock().retain(|key, _| keep(key));
    }

    /// Everything in quarantine, in key order.
    pub(crate) fn list(&self) -> Vec<Quarantined> {
        self.lock().values().cloned().collect()
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ObjectKey, Quarantined>> {
        // No code of others runs under this lock, so a poisoned map is still whole.
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
