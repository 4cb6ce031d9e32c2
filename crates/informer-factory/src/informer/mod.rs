//! One shared informer: a cache that follows the server, with its readers and handlers.

mod handlers;
mod namespaces;
pub(crate) mod registration;
mod start;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use derive_where::derive_where;
use futures::{Stream, StreamExt};
use informer_reflector::ResourceVersion;
use informer_store::{Index, IndexError, Lister, Scope, StoreReader};

use crate::applying::quarantine::Quarantined;
use crate::error::{AddIndexError, FromOwnCallback, NotSynced, WaitForVersionError};
use crate::options::Namespaces;
use crate::running::core::Core;
use crate::running::shutdown;
use crate::running::shutdown::{Ending, Grace, InformerReport};
use crate::status::InformerStatus;
use crate::status::shared::Lifecycle;
use crate::status::wait;

/// A cache of one collection that follows the server, shared by any number of readers and handlers.
///
/// A handle: cloning it shares the informer. The factory owns it; dropping handles ends nothing.
///
/// ```
/// use std::time::Duration;
/// use informer_factory::{Grace, SharedInformerFactory, index};
/// use informer_testkit::Resource;
/// use k8s_openapi::api::core::v1::Pod;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = informer_testkit::ApiServer::new();
/// # let client = informer_factory::Client::new(server.service(), "default");
/// let factory = SharedInformerFactory::new(client);
/// let pods = factory.informer::<Pod>();
/// let by_app = pods.add_index("app", index::label("app"))?;
/// pods.add_handler(pods.callbacks().on_delete(|deleted| println!("- {}", deleted.key())))?;
/// factory.start()?;
///
/// let metadata = serde_json::json!({"name": "web-0", "labels": {"app": "web"}});
/// let created = server.create(&Resource::pods(), serde_json::json!({"metadata": metadata}))?;
/// let version = created.version().into();
/// pods.wait_for_version(&version, Duration::from_secs(30)).await?; // Read your own writes.
/// assert!(pods.lister().get("default/web-0").is_some());
/// assert_eq!(by_app.count("web"), 1);
/// factory.shutdown(Grace::default()).await?;
/// # Ok(()) }
/// ```
#[derive_where(Clone)]
#[doc(alias = "SharedIndexInformer")]
#[doc(alias = "reflector")]
pub struct SharedInformer<T: Send + Sync + 'static> {
    core: Arc<Core<T>>,
    pub(crate) scopes: Arc<[Scope]>,
    ending: Arc<OnceLock<Ending>>,
}

impl<T: Send + Sync + 'static> SharedInformer<T> {
    pub(crate) fn new(core: Core<T>, namespaces: &Namespaces) -> Self {
        let scopes = match namespaces.normal() {
            Namespaces::All => vec![Scope::All],
            Namespaces::These(names) => names
                .into_iter()
                .map(|name| Scope::Namespace(name.into()))
                .collect(),
        };
        Self {
            core: Arc::new(core),
            scopes: scopes.into(),
            ending: Arc::default(),
        }
    }

    /// The informer's name in status and logs. Metrics have
    /// [`InformerStatus::label`](crate::InformerStatus::label), which it begins with.
    pub fn name(&self) -> &str {
        &self.core.status.name
    }

    /// Everything stored, by key, namespace and predicate. Never waits for the writer.
    #[doc(alias = "Store")]
    pub fn lister(&self) -> Lister<T> {
        Lister::new(self.core.applier.reader.clone())
    }

    /// The reading half of the store: snapshots, indexes by name, the applied version.
    pub fn reader(&self) -> StoreReader<T> {
        self.core.applier.reader.clone()
    }

    /// Adds an index, before or after the start.
    ///
    /// The function gives every value an object is to be found under. It runs on the informer's
    /// task for every change, so it must be quick, and it must not call back into the informer;
    /// nor hold it or a reader of it, which would keep the store alive for ever. An object on which
    /// it panics, or for which it gives more values than
    /// [`InformerOptions::index_values`](crate::InformerOptions::index_values), is quarantined by
    /// key; everything else goes on.
    ///
    /// # Errors
    ///
    /// [`AddIndexError`] when the name is taken or the informer has ended.
    ///
    /// # Panics
    ///
    /// If `values` panics on an object that is stored already; the index is not added then.
    ///
    /// ```
    /// # use informer_factory::{AddIndexError, Index, SharedInformer};
    /// # use k8s_openapi::api::core::v1::Pod;
    /// /// The pods by phase.
    /// fn by_phase(pods: &SharedInformer<Pod>) -> Result<Index<Pod>, AddIndexError> {
    ///     pods.add_index("phase", |pod: &Pod| pod.status.as_ref()?.phase.clone())
    /// }
    /// # let _ = by_phase;
    /// ```
    // IX-10, IN-7, FM-82, SEC-24
    pub fn add_index<F, I, V>(
        &self,
        name: impl Into<Arc<str>>,
        values: F,
    ) -> Result<Index<T>, AddIndexError>
    where
        F: Fn(&T) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = V>,
        V: Into<Arc<str>>,
    {
        self.core.status.refuse_if_over::<AddIndexError>()?;
        Ok(self.core.applier.add_index(name.into(), values)?)
    }

    /// Returns the handle of an index that was added before, for code that did not add it itself.
    ///
    /// # Errors
    ///
    /// [`IndexError::UnknownIndex`], which names the indexes there are.
    ///
    /// ```
    /// # use informer_factory::{Index, IndexError, SharedInformer};
    /// # use k8s_openapi::api::core::v1::Pod;
    /// fn pods_by_node(pods: &SharedInformer<Pod>) -> Result<Index<Pod>, IndexError> {
    ///     pods.index("node")
    /// }
    /// # let _ = pods_by_node;
    /// ```
    pub fn index(&self, name: &str) -> Result<Index<T>, IndexError> {
        self.core.applier.reader.index(name)
    }

    /// True once the first list of every source has been applied; never false again.
    ///
    /// The [`Registration`](crate::Registration) of a handler shows whether the handler has
    /// received it.
    // IN-1
    #[doc(alias = "HasSynced")]
    pub fn is_synced(&self) -> bool {
        self.core.status.is_synced()
    }

    /// Waits until the informer [`is_synced`](Self::is_synced).
    ///
    /// An informer that has not been started is waited for too, since another task may start it.
    ///
    /// # Errors
    ///
    /// [`NotSynced`] names the sources that are not synced, with the last failure of each: when
    /// `timeout` has passed, or as soon as the informer or its runtime has ended.
    ///
    /// # Cancel safety
    ///
    /// Safe; nothing is lost.
    #[doc(alias = "WaitForCacheSync")]
    #[doc(alias = "wait_until_ready")]
    pub async fn wait_synced(&self, timeout: Duration) -> Result<(), NotSynced> {
        let is_awaited = |lifecycle: Lifecycle| !lifecycle.is_over();
        wait::for_sync(&[&self.core.status], timeout, is_awaited).await
    }

    /// Returns state, sources with their last failures, and handlers with their backlogs.
    pub fn status(&self) -> InformerStatus {
        self.core.status()
    }

    /// Returns the status now, and again after every change of state, phase or failure, such as for
    /// a readiness probe. Slow readers see the latest only.
    ///
    /// ```
    /// # use informer_factory::SharedInformer;
    /// # use k8s_openapi::api::core::v1::Pod;
    /// use futures::StreamExt;
    /// use informer_factory::InformerState;
    ///
    /// # async fn example(pods: &SharedInformer<Pod>) {
    /// let mut changes = std::pin::pin!(pods.status_stream());
    /// while let Some(status) = changes.next().await {
    ///     let is_ready = matches!(status.state, InformerState::Synced | InformerState::Degraded);
    ///     println!("ready: {is_ready}");
    /// }
    /// # }
    /// # let _ = example;
    /// ```
    pub fn status_stream(&self) -> impl Stream<Item = InformerStatus> + Send + use<T> {
        let (informer, status) = (self.clone(), Arc::clone(&self.core.status));
        status.changes().map(move |()| informer.status())
    }

    /// Waits until what the server wrote at `version` has been applied to the store: read your own
    /// writes. With several namespaces, waits for all of them; see
    /// [`wait_for_version_in`](Self::wait_for_version_in).
    ///
    /// Without bookmarks, a version that changed nothing here is reached with the next change only.
    ///
    /// # Errors
    ///
    /// [`WaitForVersionError`]
    ///
    /// # Cancel safety
    ///
    /// Safe; nothing is lost.
    pub async fn wait_for_version(
        &self,
        version: &ResourceVersion,
        timeout: Duration,
    ) -> Result<(), WaitForVersionError> {
        wait::for_version(&self.core.status, version, timeout, |_| true).await
    }

    /// As [`wait_for_version`](Self::wait_for_version), for the source of one namespace.
    ///
    /// # Errors
    ///
    /// [`WaitForVersionError`]; a namespace that is not followed is never reached.
    ///
    /// # Cancel safety
    ///
    /// Safe; nothing is lost.
    pub async fn wait_for_version_in(
        &self,
        namespace: &str,
        version: &ResourceVersion,
        timeout: Duration,
    ) -> Result<(), WaitForVersionError> {
        let scope = Scope::Namespace(namespace.into());
        wait::for_version(&self.core.status, version, timeout, |source| {
            source.scope == scope
        })
        .await
    }

    /// Objects whose newest version could not be decoded or applied, with the reason. Where
    /// there are more than [`InformerOptions::quarantined`](crate::InformerOptions::quarantined),
    /// only so many; how many there are in all is in the [`status`](Self::status).
    // IN-7
    pub fn quarantined(&self) -> Vec<Quarantined> {
        self.core.applier.quarantine.list()
    }

    /// Ends the informer: the watch first, then the queue is drained, then the handlers get what is
    /// pending, within the grace. The store can still be read. A second call gives the same report.
    ///
    /// # Errors
    ///
    /// [`FromOwnCallback`] when awaited in a callback of one of its own handlers, which would wait
    /// for itself; spawn a task for it. Nothing is ended then.
    ///
    /// # Cancel safety
    ///
    /// The informer ends all the same; a later call waits for the rest. The first grace counts. If
    /// the runtime ends first, the informer ends where it is, and its report is not complete.
    // FM-67
    pub async fn shutdown(&self, grace: Grace) -> Result<InformerReport, FromOwnCallback> {
        self.refuse_own_callback()?;
        let begin = || shutdown::begin(&self.core, grace);
        Ok(self.ending.get_or_init(begin).clone().await)
    }

    pub(crate) fn refuse_own_callback(&self) -> Result<(), FromOwnCallback> {
        let informer = Arc::clone(&self.core.status.name);
        match self.core.applier.processor.calling_listener() {
            Some(_) => Err(FromOwnCallback { informer }),
            None => Ok(()),
        }
    }

    pub(crate) fn core(&self) -> &Arc<Core<T>> {
        &self.core
    }
}

impl<T: Send + Sync + 'static> fmt::Debug for SharedInformer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformer")
            .field("name", &self.core.status.name)
            .finish_non_exhaustive()
    }
}
