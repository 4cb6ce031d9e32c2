//! Which object an index function panics on.
//!
//! The store refuses a batch as a whole when an index function panics in it. A relist is
//! one batch, so without knowing the culprit one bad object would cost all of them. Asked
//! only after a panic; tested in `tests/bad_input/indexes.rs`.

// STX-10, FM-53

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};

use derive_where::derive_where;
use informer_processor::{Added, Notification, Updated};
use informer_store::ObjectKey;

use crate::applying::apply::Event;

type Probe<T> = Box<dyn Fn(&T) + Send + Sync>;

/// The index functions of one informer, to be tried on one object at a time.
#[derive_where(Default)]
pub(crate) struct Probes<T>(RwLock<Vec<Probe<T>>>);

impl<T> Probes<T> {
    /// Remembers an index function that the store has taken.
    pub(crate) fn add(&self, probe: impl Fn(&T) + Send + Sync + 'static) {
        let mut probes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        probes.push(Box::new(probe));
    }

    /// The keys whose last object in `notifications` some index function panics on, in key order.
    pub(crate) fn culprits(&self, notifications: &[Event<T>]) -> Vec<ObjectKey> {
        let mut last = BTreeMap::new();
        for notification in notifications {
            match &**notification {
                Notification::Added(Added { key, object, .. })
                | Notification::Updated(Updated {
                    key, new: object, ..
                }) => {
                    last.insert(key.clone(), Arc::clone(object));
                }
                Notification::Deleted(deleted) => {
                    last.remove(deleted.key());
                }
            }
        }
        last.retain(|_, object| self.panics_on(object));
        last.into_keys().collect()
    }

    fn panics_on(&self, object: &T) -> bool {
        let probes = self.0.read().unwrap_or_else(PoisonError::into_inner);
        probes
            .iter()
            .any(|probe| catch_unwind(AssertUnwindSafe(|| probe(object))).is_err())
    }
}
