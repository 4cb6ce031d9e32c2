//! How a factory is set up.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use derive_where::derive_where;
use informer_reflector::Config as ReflectorConfig;
use kube_client::Client;

use crate::checker::consistency::Consistency;
use crate::options::{Namespaces, QueueKind};
use crate::sharing::factory::SharedInformerFactory;

/// What informers get that bring nothing of their own.
#[derive(Default)]
pub(crate) struct Defaults {
    pub(crate) resync: Option<Duration>,
    pub(crate) namespaces: Namespaces,
    pub(crate) queue: QueueKind,
    pub(crate) reflector: ReflectorConfig,
    pub(crate) consistency: Option<Consistency>,
}

/// Builds a [`SharedInformerFactory`].
#[derive_where(Debug)]
#[derive_where(skip_inner)]
#[must_use = "a builder does nothing until `build`"]
pub struct FactoryBuilder {
    client: Client,
    defaults: Defaults,
    seed: Option<u64>,
}

impl FactoryBuilder {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            defaults: Defaults::default(),
            seed: None,
        }
    }

    /// The resync period of handlers that ask for none. Default: no resync, since it repeats what
    /// handlers know already.
    pub fn default_resync(mut self, period: Duration) -> Self {
        self.defaults.resync = Some(period);
        self
    }

    /// The namespaces of informers that name none. Default: all.
    pub fn namespaces(mut self, namespaces: Namespaces) -> Self {
        self.defaults.namespaces = namespaces;
        self
    }

    /// The queue of informers that choose none. Default: [`QueueKind::DeltaFifo`].
    pub fn queue(mut self, queue: QueueKind) -> Self {
        self.defaults.queue = queue;
        self
    }

    /// Back-off, page size and timeouts of informers that bring none.
    pub fn reflector(mut self, config: ReflectorConfig) -> Self {
        self.defaults.reflector = config;
        self
    }

    /// Compares the stores of informers with the server again and again (FM-40). Off by default,
    /// since it costs one list of the collection in each period; five minutes suit production.
    pub fn check_consistency(mut self, consistency: Consistency) -> Self {
        self.defaults.consistency = Some(consistency);
        self
    }

    /// Where the jitter comes from, to make a run repeatable. Default: the operating system.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The factory.
    pub fn build(self) -> SharedInformerFactory {
        let seed = self
            .seed
            .unwrap_or_else(|| RandomState::new().build_hasher().finish());
        SharedInformerFactory::over(self.client, self.defaults, seed)
    }
}
