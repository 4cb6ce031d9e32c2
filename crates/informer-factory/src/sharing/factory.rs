//! A factory, which returns one informer for all equal requests.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt};
use informer_kube_source::{Decode, PartialObjectMetadata, Representation};
use kube_client::Client;
use kube_core::discovery::ApiResource;
use kube_core::{DynamicObject, Resource};
use serde::de::DeserializeOwned;

use crate::error::{AlreadyStopped, FromOwnCallback, InformerError, NotSynced, StartError};
use crate::informer::SharedInformer;
use crate::options::{InformerOptions, random_seed};
use crate::rbac_role::RbacRoles;
use crate::running::shutdown::{Grace, InformerReport, ShutdownReport};
use crate::sharing::assembly::{Decoder, is_dynamic};
use crate::sharing::builder::{Defaults, FactoryBuilder};
use crate::sharing::registry::Registry;
use crate::status::InformerStatus;
use crate::status::shared::Lifecycle;
use crate::status::wait;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Between the seeds of two informers.
pub(super) const SEED_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Makes shared informers and owns them.
///
/// Cloning shares the factory. When the last clone is dropped without a
/// [`shutdown`](Self::shutdown), everything it owns is aborted.
///
/// ```
/// use std::time::Duration;
/// use informer_factory::{Grace, InformerOptions, SharedInformerFactory};
/// use k8s_openapi::api::core::v1::{Node, Pod};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = informer_testkit::ApiServer::new();
/// # let client = informer_factory::Client::new(server.service(), "default");
/// let factory = SharedInformerFactory::new(client);
/// let nodes = factory.informer::<Node>();
/// let web = factory.informer_with::<Pod>(InformerOptions::new().labels("app=web"))?;
/// factory.start()?; // Both; informers that are requested later need another call.
/// factory.wait_synced(Duration::from_secs(30)).await?;
/// println!("{} nodes, {} pods", nodes.reader().len(), web.reader().len());
/// factory.shutdown(Grace::default()).await?;
/// # Ok(()) }
/// ```
// IN-6
#[derive(Clone)]
pub struct SharedInformerFactory {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) client: Client,
    pub(super) defaults: Defaults,
    pub(super) registry: Registry,
    stopped: AtomicBool,
    report: tokio::sync::Mutex<Option<ShutdownReport>>,
    /// Distinguishes the seeds of the informers.
    pub(super) seeds: AtomicU64,
}

impl SharedInformerFactory {
    /// Makes a factory with the defaults, best over a client from [`crate::client()`].
    pub fn new(client: Client) -> Self {
        Self::over(client, Defaults::default(), random_seed())
    }

    /// Builds a factory with other defaults.
    pub fn builder(client: Client) -> FactoryBuilder {
        FactoryBuilder::new(client)
    }

    pub(crate) fn over(client: Client, defaults: Defaults, seed: u64) -> Self {
        let inner = Inner {
            client,
            defaults,
            registry: Registry::default(),
            stopped: AtomicBool::new(false),
            report: tokio::sync::Mutex::new(None),
            seeds: AtomicU64::new(seed.wrapping_add(SEED_STEP)),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// The informer for a type, over the factory's namespaces.
    ///
    /// Equal requests get the same informer. After a shutdown, returns an informer that has ended,
    /// which refuses handlers and its start.
    ///
    /// A cluster-scoped type is watched as a whole, whatever the factory's namespaces.
    ///
    /// # Panics
    ///
    /// If this type's objects are decoded already by a decoder of the caller
    /// ([`decoded`](Self::decoded)), or another informer was given the name of this one, such as
    /// `pods`. [`informer_with`](Self::informer_with) returns an error instead.
    pub fn informer<K>(&self) -> SharedInformer<K>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
        K::Scope: 'static,
    {
        let options = InformerOptions::default();
        let decoder = Decoder::json(&options);
        self.get_or_make::<K, K>(&(), Representation::Full, decoder, options)
            .unwrap_or_else(|error| panic!("{error}"))
    }

    /// The informer for a type, with options.
    ///
    /// # Errors
    ///
    /// [`InformerError`]
    pub fn informer_with<K>(
        &self,
        options: InformerOptions<K>,
    ) -> Result<SharedInformer<K>, InformerError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
        K::Scope: 'static,
    {
        self.refuse_after_stop()?;
        let decoder = Decoder::json(&options);
        self.get_or_make::<K, K>(&(), Representation::Full, decoder, options)
    }

    /// The informer for a resource known at run time only.
    ///
    /// Whether the resource has namespaces is not known here: for a cluster-scoped one in a factory
    /// that is restricted to namespaces, set [`Namespaces::All`](crate::Namespaces::All).
    ///
    /// # Errors
    ///
    /// [`InformerError`]
    // FA-10
    #[doc(alias = "dynamicinformer")]
    pub fn dynamic(
        &self,
        resource: &ApiResource,
        options: InformerOptions<DynamicObject>,
    ) -> Result<SharedInformer<DynamicObject>, InformerError> {
        self.refuse_after_stop()?;
        let (whole, decoder) = (Representation::Full, Decoder::json(&options));
        self.get_or_make::<DynamicObject, _>(resource, whole, decoder, options)
    }

    /// The informer for a resource whose objects a decoder of the caller turns into `T`, a type
    /// that needs neither `Deserialize` nor a `metadata` field.
    ///
    /// Requests with the same decoder, the same `Arc`, share one informer. Implement
    /// [`Object`](crate::Object) for `T` to use the ready-made index functions and label selectors.
    /// The projection of the options is not applied: give it to the decoder.
    ///
    /// # Errors
    ///
    /// [`InformerError`]; [`InformerError::DecoderDiffers`] if the informer exists with another
    /// decoder.
    pub fn decoded<T: Send + Sync + 'static>(
        &self,
        resource: &ApiResource,
        decoder: Arc<dyn Decode<T>>,
        options: InformerOptions<T>,
    ) -> Result<SharedInformer<T>, InformerError> {
        self.refuse_after_stop()?;
        let decoder = Decoder {
            decode: decoder,
            is_own: true,
            renew: None,
            view: None,
            is_dynamic: is_dynamic::<T>(),
        };
        self.get_or_make::<DynamicObject, _>(resource, Representation::Full, decoder, options)
    }

    /// The informer for the metadata of a resource: the server sends, and the store holds, nothing
    /// else.
    ///
    /// # Errors
    ///
    /// [`InformerError`]
    // FA-11
    #[doc(alias = "metadatainformer")]
    #[doc(alias = "metadata_watcher")]
    pub fn metadata(
        &self,
        resource: &ApiResource,
        options: InformerOptions<PartialObjectMetadata>,
    ) -> Result<SharedInformer<PartialObjectMetadata>, InformerError> {
        self.refuse_after_stop()?;
        let (metadata, decoder) = (Representation::MetadataOnly, Decoder::json(&options));
        self.get_or_make::<DynamicObject, _>(resource, metadata, decoder, options)
    }

    /// Starts every informer that has not been started yet; may be called again.
    ///
    /// # Errors
    ///
    /// [`StartError`] after a shutdown, or outside a tokio runtime.
    // FA-04
    pub fn start(&self) -> Result<(), StartError> {
        self.refuse_after_stop()?;
        let mut informers = self.inner.registry.all();
        informers.retain(|informer| !informer.shared_status().has_ended());
        // All of them, and then the first that could not be.
        let results: Vec<_> = informers.iter().map(|informer| informer.start()).collect();
        results.into_iter().collect()
    }

    /// True once every informer of the factory [`is_synced`](SharedInformer::is_synced). An
    /// informer that was requested and never started is not.
    #[doc(alias = "HasSynced")]
    pub fn is_synced(&self) -> bool {
        let informers = self.inner.registry.all();
        informers
            .iter()
            .all(|owned| owned.shared_status().is_synced())
    }

    /// Waits until every informer that has been started is synced.
    ///
    /// # Errors
    ///
    /// [`NotSynced`] names the sources that are not synced, with the last failure of each: when
    /// `timeout` has passed, or earlier if nothing is left to wait for. An informer that was never
    /// started is not waited for, and is named in the error with the state
    /// [`Created`](crate::InformerState::Created), since it would stay empty.
    ///
    /// # Cancel safety
    ///
    /// Safe; nothing is lost.
    // FAX-3
    #[doc(alias = "WaitForCacheSync")]
    pub async fn wait_synced(&self, timeout: Duration) -> Result<(), NotSynced> {
        let informers = self.inner.registry.all();
        let statuses: Vec<_> = informers
            .iter()
            .map(|owned| owned.shared_status())
            .collect();
        let is_awaited = |lifecycle: Lifecycle| lifecycle == Lifecycle::Running;
        wait::for_sync(&statuses, timeout, is_awaited).await
    }

    /// The status of every informer, by name.
    pub fn status(&self) -> Vec<InformerStatus> {
        let informers = self.inner.registry.all();
        let mut all: Vec<_> = informers.iter().map(|informer| informer.status()).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// The status of every informer, now and again after every change of one: for a readiness probe
    /// of the whole program. Informers requested later are in it once one of the others changes;
    /// it ends when those there are now have ended.
    pub fn status_stream(&self) -> impl Stream<Item = Vec<InformerStatus>> + Send + use<> {
        let informers = self.inner.registry.all().into_iter();
        let changes =
            informers.map(|informer| Arc::clone(informer.shared_status()).changes().boxed());
        let factory = self.clone();
        futures::stream::select_all(changes).map(move |()| factory.status())
    }

    /// Returns the permissions that the informers of this factory need, in roles of this name, and
    /// no more. They do not include later requests.
    ///
    /// ```
    /// # use informer_factory::{InformerOptions, SharedInformerFactory};
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = informer_testkit::ApiServer::new();
    /// # let client = informer_factory::Client::new(server.service(), "default");
    /// let factory = SharedInformerFactory::new(client);
    /// factory.informer_with::<Pod>(InformerOptions::new().namespace("web"))?;
    /// println!("{}", factory.rbac_role("my-operator")); // For `kubectl apply -f -`.
    /// # Ok(()) }
    /// ```
    // SEC-15
    pub fn rbac_role(&self, name: &str) -> RbacRoles {
        let informers = self.inner.registry.entries();
        let read = informers
            .iter()
            .flat_map(|(key, owned)| key.reads(&owned.status().sources).collect::<Vec<_>>());
        RbacRoles::to_read(name, read)
    }

    /// Ends one informer and forgets it: the next request gets a new one. Readers
    /// keep the store as it was.
    ///
    /// `None` if it is not one of this factory's, or no longer.
    ///
    /// # Cancel safety
    ///
    /// The informer is forgotten and ends all the same.
    ///
    /// # Errors
    ///
    /// [`FromOwnCallback`] when awaited in a callback of one of its own handlers.
    // FA-08, FAX-5
    pub async fn release<T: Send + Sync + 'static>(
        &self,
        informer: &SharedInformer<T>,
        grace: Grace,
    ) -> Result<Option<InformerReport>, FromOwnCallback> {
        informer.refuse_own_callback()?;
        if !self.inner.registry.forget(informer) {
            return Ok(None);
        }
        informer.shutdown(grace).await.map(Some)
    }

    /// Ends everything, all informers at once, each in order and within the grace. Afterwards
    /// nothing can be started or asked for. A second call gives the same report.
    ///
    /// # Errors
    ///
    /// [`FromOwnCallback`] when awaited in a callback of one of its handlers; nothing is
    /// ended then.
    ///
    /// # Cancel safety
    ///
    /// The informers end all the same; a later call waits for the rest.
    // FAX-4, FM-67
    pub async fn shutdown(&self, grace: Grace) -> Result<ShutdownReport, FromOwnCallback> {
        let informers = self.inner.registry.all();
        informers
            .iter()
            .try_for_each(|informer| informer.refuse_own_callback())?;
        if !planted!(RefusedTooLate) {
            self.inner.stopped.store(true, Ordering::SeqCst);
        }
        let mut report = self.inner.report.lock().await;
        if let Some(report) = &*report {
            return Ok(report.clone());
        }
        // Again, for an informer that was requested meanwhile.
        let informers = self.inner.registry.all();
        if planted!(RefusedTooLate) {
            self.inner.stopped.store(true, Ordering::SeqCst);
        }
        let ends = informers.iter().map(|informer| informer.end(grace));
        let mut informers = futures::future::try_join_all(ends).await?;
        informers.sort_by(|a, b| a.informer.cmp(&b.informer));
        Ok(report.insert(ShutdownReport { informers }).clone())
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.inner.stopped.load(Ordering::SeqCst)
    }

    pub(super) fn refuse_after_stop(&self) -> Result<(), AlreadyStopped> {
        match self.is_stopped() {
            true => Err(AlreadyStopped {
                what: "the factory".into(),
            }),
            false => Ok(()),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.report.get_mut().is_none() {
            self.registry.all().iter().for_each(|owned| owned.abort());
        }
    }
}

impl fmt::Debug for SharedInformerFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self
            .status()
            .into_iter()
            .map(|status| status.name)
            .collect();
        f.debug_struct("SharedInformerFactory")
            .field("informers", &names)
            .finish_non_exhaustive()
    }
}
