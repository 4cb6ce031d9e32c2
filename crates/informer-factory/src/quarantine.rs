//! Keys whose newest version cannot be decoded or applied (IN-7).
//!
//! Such a key is told to the operator, its last good version stays in the store, and it poisons
//! nothing else (FM-53, FM-54). It leaves when a good version, a delete, or a relist without it
//! comes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use informer_reflector::{DecodeError, ObjectMeta, ResourceVersion};
use informer_store::{ObjectKey, Scope};

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
    /// Puts a key in, or replaces the reason it is in for.
    pub(crate) fn put(&self, key: ObjectKey, meta: &ObjectMeta, error: DecodeError) {
        let version = meta.version.clone();
        let reason = QuarantineReason::Undecodable(error);
        self.lock().insert(
            key.clone(),
            Quarantined {
                key,
                version,
                reason,
            },
        );
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

    /// Lets go of all keys of a source; a relist is about to name those that are still bad.
    pub(crate) fn release_scope(&self, scope: &Scope) {
        match scope {
            Scope::All => self.lock().clear(),
            Scope::Namespace(namespace) => {
                self.lock()
                    .retain(|key, _| key.namespace() != Some(namespace));
            }
        }
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
