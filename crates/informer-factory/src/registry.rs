//! The factory's informers, whatever their type, and what a second request is compared with.

use std::any::Any;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};

use futures::StreamExt;
use futures::stream::BoxStream;

use crate::error::{FromOwnCallback, InformerError, StartError};
use crate::informer::SharedInformer;
use crate::options::Transform;
use crate::sharing_key::SharingKey;
use crate::shutdown::{Grace, InformerReport};
use crate::status::{Board, InformerStatus};
use crate::sync::{Mutex, MutexGuard};

/// The informers of a factory.
#[derive(Default)]
pub(crate) struct Registry {
    informers: Mutex<Informers>,
}

/// By what was asked for.
type Informers = HashMap<SharingKey, Arc<dyn Owned>>;

impl Registry {
    /// All of them, locked; not to be held while informers are waited for.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Informers> {
        // Each change is one insertion or removal, so a poisoned registry is still whole.
        self.informers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them, as they are now.
    pub(crate) fn all(&self) -> Vec<Arc<dyn Owned>> {
        self.lock().values().map(Arc::clone).collect()
    }

    /// Takes an informer out; false if it is not there.
    pub(crate) fn forget<T: Send + Sync + 'static>(&self, informer: &SharedInformer<T>) -> bool {
        let is_it = |owned: &Arc<dyn Owned>| {
            let owned = owned.as_any().downcast_ref::<Shared<T>>();
            owned.is_some_and(|owned| Arc::ptr_eq(owned.informer.core(), informer.core()))
        };
        let forgotten = self.lock().extract_if(|_, owned| is_it(owned)).next();
        forgotten.is_some()
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
    fn start(&self) -> Result<(), StartError>;
    fn has_ended(&self) -> bool;
    /// Something for each change of its status, and at first.
    fn changes(&self) -> BoxStream<'static, ()>;
    fn board(&self) -> Arc<Board>;
    fn status(&self) -> InformerStatus;
    fn abort(&self);
    fn refuse_own_callback(&self) -> Result<(), FromOwnCallback>;
    fn end(&self, grace: Grace) -> Ending<'_>;
}

pub(crate) type Ending<'a> =
    Pin<Box<dyn Future<Output = Result<InformerReport, FromOwnCallback>> + Send + 'a>>;

impl<T: Send + Sync + 'static> Owned for Shared<T> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn start(&self) -> Result<(), StartError> {
        self.informer.start()
    }

    fn has_ended(&self) -> bool {
        self.informer.has_ended()
    }

    fn changes(&self) -> BoxStream<'static, ()> {
        self.informer.status_stream().map(drop).boxed()
    }

    fn board(&self) -> Arc<Board> {
        Arc::clone(&self.informer.core().board)
    }

    fn status(&self) -> InformerStatus {
        self.informer.status()
    }

    fn abort(&self) {
        self.informer.abort();
    }

    fn refuse_own_callback(&self) -> Result<(), FromOwnCallback> {
        self.informer.refuse_own_callback()
    }

    fn end(&self, grace: Grace) -> Ending<'_> {
        Box::pin(self.informer.shutdown(grace))
    }
}
