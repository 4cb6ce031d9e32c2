//! How an API server is set up.

use std::{
    collections::BTreeMap,
    fmt,
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::{
    ApiServer, Cluster, ProtobufSupport, Resource,
    server::{Server, Settings},
};

/// Sets up an [`ApiServer`]; made by [`ApiServer::builder`].
#[must_use]
pub struct Builder {
    resources: Vec<Resource>,
    revision: u64,
    history_limit: usize,
    seed: u64,
    readable_uids: bool,
    page_limit: Option<usize>,
    settings: Settings,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Self {
            resources: Resource::defaults(),
            revision: 1,
            history_limit: 50_000,
            seed: 0,
            readable_uids: false,
            page_limit: None,
            settings: Settings {
                clock: None,
                bookmark_interval: Duration::from_secs(60),
                watch_timeout: Duration::from_secs(30 * 60),
                protobuf: ProtobufSupport::Served,
            },
        }
    }

    /// Makes one more resource known, as a CRD does.
    pub fn resource(mut self, resource: Resource) -> Self {
        self.resources.push(resource);
        self
    }

    /// The version before the first write. The default is 1, that of an empty etcd; a large one
    /// shows that nobody counts on small numbers.
    pub fn starting_version(mut self, version: u64) -> Self {
        self.revision = version.max(1);
        self
    }

    /// How many changes are kept per resource. The default, 50,000, is enough for a watcher that
    /// stalls 25 s at 2,000 changes/s; each costs about the size of its object's JSON.
    pub fn history_limit(mut self, changes: usize) -> Self {
        self.history_limit = changes;
        self
    }

    /// The seed of uids and generated names. The default is 0, so that tests repeat.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Makes uids readable: `default/a-2` is the second object of that name, so that a trace tells
    /// lives apart.
    pub fn readable_uids(mut self) -> Self {
        self.readable_uids = true;
        self
    }

    /// Sets the largest number of items in a page of a paginated list. Default: the number in the
    /// request.
    pub fn page_limit(mut self, items: usize) -> Self {
        self.page_limit = Some(items.max(1));
        self
    }

    /// The time of creation timestamps. Without a clock time is 2024-01-01T00:00:00Z plus one
    /// second for each version, so that tests repeat.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.settings.clock = Some(Box::new(clock));
        self
    }

    /// How often a watch that asked for bookmarks gets one. The default is 60 s, as in
    /// kube-apiserver.
    pub fn bookmark_interval(mut self, interval: Duration) -> Self {
        self.settings.bookmark_interval = interval;
        self
    }

    /// How long a watch lives that names no timeout. The default is 30 min, the least
    /// kube-apiserver grants.
    pub fn watch_timeout(mut self, timeout: Duration) -> Self {
        self.settings.watch_timeout = timeout;
        self
    }

    /// Sets how the server answers clients that accept protobuf. Default:
    /// [`ProtobufSupport::Served`].
    ///
    /// ```
    /// use informer_testkit::{ApiServer, ProtobufSupport};
    ///
    /// // Every answer is in JSON, so that a test can search bodies for text.
    /// let server = ApiServer::builder().protobuf(ProtobufSupport::JsonOnly).build();
    /// # drop(server);
    /// ```
    pub fn protobuf(mut self, support: ProtobufSupport) -> Self {
        self.settings.protobuf = support;
        self
    }

    /// Builds the server.
    pub fn build(self) -> ApiServer {
        let mut cluster = Cluster::new(self.revision, self.history_limit, self.seed);
        cluster.page_limit = self.page_limit;
        cluster.lives = self.readable_uids.then(BTreeMap::new);
        let server = Server::new(cluster, self.settings);
        let mut state = server.lock();
        for resource in self.resources {
            state.register(resource);
        }
        drop(state);
        ApiServer::from_server(Arc::new(server))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("resources", &self.resources.len())
            .field("revision", &self.revision)
            .field("history_limit", &self.history_limit)
            .finish_non_exhaustive()
    }
}
