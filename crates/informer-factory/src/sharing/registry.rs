//! The factory's informers, of all types, and the parts a second request is compared with.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use futures::future::BoxFuture;
use informer_kube_source::{Decode, Transform};

use crate::error::{FromOwnCallback, InformerError, StartError};
use crate::informer::SharedInformer;
use crate::running::shutdown::{Grace, InformerReport};
use crate::sharing::key::SharingKey;
use crate::status::InformerStatus;
use crate::status::shared::SharedStatus;
use crate::sync::{DashMap, Entry, Mutex};

/// The informers of a factory, by sharing key.
#[derive(Default)]
pub(crate) struct Registry {
    informers: DashMap<SharingKey, Arc<dyn Owned>>,
    /// The names of the informers. Locked after an entry, never before.
    names: Mutex<HashMap<SharingKey, Name>>,
}

/// The name of an informer in metrics.
struct Name {
    label: Arc<str>,
    /// Whether the caller chose it. Default names need not differ, such as those of one resource
    /// decoded as two types.
    is_chosen: bool,
}

impl Registry {
    /// Locks the entry of one key, and its neighbours in the map. While it is locked no user code
    /// runs, no other entry is used, and no informer is waited for or dropped.
    pub(crate) fn entry(&self, key: SharingKey) -> Entry<'_, SharingKey, Arc<dyn Owned>> {
        self.informers.entry(key)
    }

    /// Names the informer of a key, whose entry the caller has locked.
    pub(crate) fn name(
        &self,
        key: &SharingKey,
        label: &Arc<str>,
        is_chosen: bool,
    ) -> Result<(), InformerError> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let is_taken = |(other, name): (&SharingKey, &Name)| {
            other != key && name.label == *label && (is_chosen || name.is_chosen)
        };
        if names.iter().any(is_taken) {
            let name = Arc::clone(label);
            return Err(InformerError::NameTaken { name });
        }
        let label = Arc::clone(label);
        names.insert(key.clone(), Name { label, is_chosen });
        Ok(())
    }

    /// All of them with their keys, as they are now.
    pub(crate) fn entries(&self) -> Vec<(SharingKey, Arc<dyn Owned>)> {
        let entries = self.informers.iter();
        let entries = entries.map(|entry| (entry.key().clone(), Arc::clone(entry.value())));
        entries.collect()
    }

    /// All of them, as they are now.
    pub(crate) fn all(&self) -> Vec<Arc<dyn Owned>> {
        let entries = self.entries().into_iter();
        entries.map(|(_, informer)| informer).collect()
    }

    /// Removes an informer; false if it is not there.
    pub(crate) fn forget<T: Send + Sync + 'static>(&self, informer: &SharedInformer<T>) -> bool {
        let is_it = |owned: &Arc<dyn Owned>| {
            Shared::of(owned)
                .is_some_and(|owned| Arc::ptr_eq(owned.informer.core(), informer.core()))
        };
        let found = self.entries().into_iter().find(|(_, owned)| is_it(owned));
        // The removed entry is dropped after the map is unlocked.
        let removed = found.and_then(|(key, _)| {
            self.informers.remove_if(&key, |key, owned| {
                let is_it = is_it(owned);
                if is_it {
                    let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
                    names.remove(key);
                }
                is_it
            })
        });
        removed.is_some()
    }
}

/// An informer in the registry, with what a second request is compared with.
pub(crate) struct Shared<T: Send + Sync + 'static> {
    pub(crate) informer: SharedInformer<T>,
    pub(crate) transform: Option<Transform<T>>,
    /// The decoder, if the caller brought one.
    pub(crate) decoder: Option<Arc<dyn Decode<T>>>,
}

impl<T: Send + Sync + 'static> Shared<T> {
    /// The informer as one of this type, if it is one.
    pub(crate) fn of(owned: &Arc<dyn Owned>) -> Option<&Self> {
        let owned: &dyn Any = &**owned;
        owned.downcast_ref()
    }

    /// Whether a request for this informer wants its objects as they are: decoded by the same
    /// decoder, and changed by the same transform. A request without a transform takes any, and one
    /// without a name too.
    pub(crate) fn check(
        &self,
        name: Option<&Arc<str>>,
        transform: Option<&Transform<T>>,
        decoder: Option<&Arc<dyn Decode<T>>>,
    ) -> Result<(), InformerError> {
        let status = &self.informer.core().status;
        let informer = Arc::clone(&status.name);
        if let Some(name) = name.filter(|name| ***name != *status.label) {
            let name = Arc::clone(name);
            return Err(InformerError::NameDiffers { informer, name });
        }
        let same_decoder = match (decoder, &self.decoder) {
            (Some(wanted), Some(present)) => Arc::ptr_eq(wanted, present),
            (wanted, present) => wanted.is_none() && present.is_none(),
        };
        if !same_decoder {
            return Err(InformerError::DecoderDiffers { informer });
        }
        match (transform, &self.transform) {
            (None, _) => Ok(()),
            (Some(wanted), Some(present)) if wanted.is_same(present) => Ok(()),
            (Some(_), _) => Err(InformerError::TransformDiffers { informer }),
        }
    }
}

/// An informer of any type, as the factory uses it.
pub(crate) trait Owned: Any + Send + Sync {
    fn shared_status(&self) -> &Arc<SharedStatus>;
    fn start(&self) -> Result<(), StartError>;
    fn status(&self) -> InformerStatus;
    fn abort(&self);
    fn refuse_own_callback(&self) -> Result<(), FromOwnCallback>;
    fn end(&self, grace: Grace) -> BoxFuture<'_, Result<InformerReport, FromOwnCallback>>;
}

impl<T: Send + Sync + 'static> Owned for Shared<T> {
    fn shared_status(&self) -> &Arc<SharedStatus> {
        &self.informer.core().status
    }

    fn start(&self) -> Result<(), StartError> {
        self.informer.start()
    }

    fn status(&self) -> InformerStatus {
        self.informer.status()
    }

    fn abort(&self) {
        drop(self.informer.core().abort());
    }

    fn refuse_own_callback(&self) -> Result<(), FromOwnCallback> {
        self.informer.refuse_own_callback()
    }

    fn end(&self, grace: Grace) -> BoxFuture<'_, Result<InformerReport, FromOwnCallback>> {
        Box::pin(self.informer.shutdown(grace))
    }
}
