//! The builder of a factory.

use std::time::Duration;

use derive_where::derive_where;
use informer_reflector::Config as ReflectorConfig;
use kube_client::Client;

use crate::checker::consistency::Consistency;
use crate::error::InformerError;
use crate::options::{Namespaces, QueueKind, random_seed};
use crate::sharing::assembly::check_namespaces;
use crate::sharing::factory::SharedInformerFactory;

/// The settings of informers that bring none of their own.
#[derive(Default)]
pub(crate) struct Defaults {
    pub(crate) resync: Option<Duration>,
    pub(crate) namespaces: Namespaces,
    pub(crate) queue: QueueKind,
    pub(crate) reflector: ReflectorConfig,
    pub(crate) consistency: Option<Consistency>,
}

/// Builds a [`SharedInformerFactory`] with defaults for all of its informers.
///
/// ```
/// use std::time::Duration;
/// use informer_factory::{Consistency, InformerError, Namespaces, SharedInformerFactory};
/// # use informer_factory::Client;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), InformerError> {
/// # let server = informer_testkit::ApiServer::new();
/// # let client = informer_factory::Client::new(server.service(), "default");
/// let factory = SharedInformerFactory::builder(client)
///     .namespaces(Namespaces::one("web"))
///     .check_consistency(Consistency::every(Duration::from_secs(300)))
///     .build()?;
/// # let _: (SharedInformerFactory, Option<Client>) = (factory, None);
/// # Ok(()) }
/// ```
#[derive_where(Debug)]
#[derive_where(skip_inner)]
#[must_use = "a builder does nothing until `build`"]
pub struct FactoryBuilder {
    client: Client,
    defaults: Defaults,
    seed: u64,
}

impl FactoryBuilder {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            defaults: Defaults::default(),
            seed: random_seed(),
        }
    }

    setters! {
        /// Sets the resync period of handlers that set none. Default: no resync, since it repeats
        /// objects that the handlers have received already.
        default_resync(period: Duration) => defaults.resync = Some(period);
        /// Sets the namespaces of informers whose options name none. Default: all.
        namespaces(namespaces: Namespaces) => defaults.namespaces = namespaces;
        /// Sets the queue of informers that choose none. Default: [`QueueKind::DeltaFifo`].
        queue(queue: QueueKind) => defaults.queue = queue;
        /// Sets back-off, page size and timeouts of informers that bring none. Default:
        /// `ReflectorConfig::default()`.
        reflector(config: ReflectorConfig) => defaults.reflector = config;
        // FM-40
        /// Compares the stores of informers with the server periodically. Off by default, since it
        /// costs one list of the collection in each period; five minutes suit production.
        check_consistency(consistency: Consistency) => defaults.consistency = Some(consistency);
        /// Sets the seed of the jitter, to make a run repeatable. Default: from the operating
        /// system.
        seed(seed: u64) => seed = seed;
    }

    /// Builds the factory.
    ///
    /// # Errors
    ///
    /// [`InformerError::NoNamespace`] for an empty list of namespaces, and
    /// [`InformerError::InvalidNamespace`] for a name that cannot be one of a namespace.
    pub fn build(self) -> Result<SharedInformerFactory, InformerError> {
        check_namespaces(&self.defaults.namespaces)?;
        let (client, defaults) = (self.client, self.defaults);
        Ok(SharedInformerFactory::over(client, defaults, self.seed))
    }
}
