//! The factory's informers, of all types, and the parts a second request is compared with.

use std::any::Any;
use std::sync::Arc;

use futures::future::BoxFuture;
use informer_kube_source::{Decode, Transform};

use crate::error::{FromOwnCallback, InformerError, StartError};
use crate::informer::SharedInformer;
use crate::running::shutdown::{Grace, InformerReport};
use crate::sharing::key::SharingKey;
use crate::status::InformerStatus;
use crate::status::shared::SharedStatus;
use crate::sync::{DashMap, Entry};

/// The informers of a factory, by sharing key.
#[derive(Default)]
pub(crate) struct Registry(DashMap<SharingKey, Arc<dyn Owned>>);

impl Registry {
    /// Locks the entry of one key, and its neighbours in the map. While it is locked no user code
    /// runs, no other entry is used, and no informer is waited for or dropped.
    pub(crate) fn entry(&self, key: SharingKey) -> Entry<'_, SharingKey, Arc<dyn Owned>> {
        self.0.entry(key)
    }

    /// All of them with their keys, as they are now.
    pub(crate) fn entries(&self) -> Vec<(SharingKey, Arc<dyn Owned>)> {
        let entries = self.0.iter();
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
        found.is_some_and(|(key, _)| self.0.remove_if(&key, |_, owned| is_it(owned)).is_some())
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
    /// decoder, and changed by the same transform. A request without a transform takes any.
    pub(crate) fn check(
        &self,
        transform: Option<&Transform<T>>,
        decoder: Option<&Arc<dyn Decode<T>>>,
    ) -> Result<(), InformerError> {
        let informer = Arc::clone(&self.informer.core().status.name);
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
