//! The factory's informers, whatever their type, and what a second request is compared with.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;

use crate::error::{FromOwnCallback, InformerError, StartError};
use crate::informer::SharedInformer;
use crate::options::Transform;
use crate::running::shutdown::{Grace, InformerReport};
use crate::sharing::key::SharingKey;
use crate::sharing::map::{Place, SharingMap};
use crate::status::InformerStatus;
use crate::status::board::Board;

/// The informers of a factory, by what was asked for.
#[derive(Default)]
pub(crate) struct Registry {
    informers: SharingMap<Arc<dyn Owned>>,
}

impl Registry {
    /// Where the informer of a question is, or would be. No informer is waited for with it in hand.
    pub(crate) fn place(&self, key: SharingKey) -> Place<'_, Arc<dyn Owned>> {
        self.informers.place(key)
    }

    /// All of them, as they are now, each with what was asked for.
    pub(crate) fn entries(&self) -> Vec<(SharingKey, Arc<dyn Owned>)> {
        self.informers
            .copied(|key, owned| (key.clone(), Arc::clone(owned)))
    }

    /// All of them, as they are now.
    pub(crate) fn all(&self) -> Vec<Arc<dyn Owned>> {
        self.informers.copied(|_, owned| Arc::clone(owned))
    }

    /// What was asked for, for a person.
    pub(crate) fn questions(&self) -> Vec<String> {
        self.informers.copied(|key, _| key.to_string())
    }

    /// Takes an informer out; false if it is not there.
    pub(crate) fn forget<T: Send + Sync + 'static>(&self, informer: &SharedInformer<T>) -> bool {
        let is_it = |owned: &Arc<dyn Owned>| {
            let owned = owned.as_any().downcast_ref::<Shared<T>>();
            owned.is_some_and(|owned| Arc::ptr_eq(owned.informer.core(), informer.core()))
        };
        self.informers.take(is_it).is_some()
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
