//! The factory's informers, whatever their type, and what a second request is compared with.

use std::any::Any;
use std::sync::{Arc, PoisonError};

use futures::future::BoxFuture;
use indexmap::IndexMap;

use crate::error::{FromOwnCallback, InformerError, StartError};
use crate::informer::SharedInformer;
use crate::options::Transform;
use crate::running::shutdown::{Grace, InformerReport};
use crate::sharing::key::SharingKey;
use crate::status::InformerStatus;
use crate::status::shared::SharedStatus;
use crate::sync::{Mutex, MutexGuard};

/// The informers of a factory, by what was asked for, in the order in which they were made.
#[derive(Default)]
pub(crate) struct Registry(Mutex<Informers>);

pub(crate) type Informers = IndexMap<SharingKey, Arc<dyn Owned>>;

impl Registry {
    /// Locks the informers. Under this lock no user code runs, and no informer is waited for or
    /// dropped.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Informers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them, as they are now.
    pub(crate) fn all(&self) -> Vec<Arc<dyn Owned>> {
        self.lock().values().cloned().collect()
    }

    /// Removes an informer; false if it is not there.
    pub(crate) fn forget<T: Send + Sync + 'static>(&self, informer: &SharedInformer<T>) -> bool {
        let mut informers = self.lock();
        let at = informers.values().position(|owned| {
            let owned = owned.as_any().downcast_ref::<Shared<T>>();
            owned.is_some_and(|owned| Arc::ptr_eq(owned.informer.core(), informer.core()))
        });
        let removed = at.and_then(|at| informers.shift_remove_index(at));
        drop(informers);
        removed.is_some()
    }
}

/// An informer in the registry, with what a second request is compared with.
pub(crate) struct Shared<T: Send + Sync + 'static> {
    pub(crate) informer: SharedInformer<T>,
    pub(crate) transform: Option<Transform<T>>,
}

impl<T: Send + Sync + 'static> Shared<T> {
    /// Who asks without a transform takes what there is (design 6.16).
    pub(crate) fn check_transform(
        &self,
        wanted: Option<&Transform<T>>,
    ) -> Result<(), InformerError> {
        match (wanted, &self.transform) {
            (None, _) => Ok(()),
            (Some(wanted), Some(present)) if wanted.is(present) => Ok(()),
            (Some(_), _) => {
                let informer = Arc::from(self.informer.name());
                Err(InformerError::TransformDiffers { informer })
            }
        }
    }
}

/// What the factory does with an informer of any type.
pub(crate) trait Owned: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn shared_status(&self) -> &Arc<SharedStatus>;
    fn start(&self) -> Result<(), StartError>;
    fn status(&self) -> InformerStatus;
    fn abort(&self);
    fn refuse_own_callback(&self) -> Result<(), FromOwnCallback>;
    fn end(&self, grace: Grace) -> BoxFuture<'_, Result<InformerReport, FromOwnCallback>>;
}

impl<T: Send + Sync + 'static> Owned for Shared<T> {
    fn as_any(&self) -> &dyn Any {
        self
    }

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
