//! The handle: writes from the test itself, the script of faults, the story, and the skins.

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    Builder, Deletion, Fault, FaultId, Interjection, ListOptions, Listing, Match, Object, Part,
    Preconditions, Rejection, RequestRecord, Resource, Source, Times, server::Server,
};

/// An API server in memory. Cheap to clone; all clones are the same server.
///
/// Must be built within a tokio runtime if time is paused later, since its log tells how long
/// after that moment each request came.
///
/// ```
/// use informer_testkit::{ApiServer, ListOptions, Resource};
/// use serde_json::json;
///
/// let server = ApiServer::new();
/// server.create(&Resource::nodes(), json!({"metadata": {"name": "n1"}}))?;
/// let listing = server.list(&Resource::nodes(), &ListOptions::default())?;
/// assert_eq!((listing.items.len(), listing.version), (1, server.version()));
/// # Ok::<(), informer_testkit::Rejection>(())
/// ```
#[derive(Clone)]
pub struct ApiServer {
    server: Arc<Server>,
}

impl ApiServer {
    /// A server with the resources of [`Resource::defaults`] and nothing in it.
    #[expect(
        clippy::new_without_default,
        reason = "a server is not a value one defaults to"
    )]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Sets one up.
    pub fn builder() -> Builder {
        Builder::new()
    }

    pub(crate) fn from_server(server: Arc<Server>) -> Self {
        Self { server }
    }

    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Makes one more resource known, as creating a CRD does.
    pub fn register(&self, resource: Resource) {
        self.server.lock().register(resource);
    }

    /// All resources.
    pub fn resources(&self) -> Vec<Resource> {
        self.server.lock().cluster.resources().cloned().collect()
    }

    /// Creates an object; its namespace is `metadata.namespace`, or `default`.
    ///
    /// # Errors
    ///
    /// 404 for an unknown resource, 400 or 422 for what is not such an object, 409 if the name is
    /// taken.
    pub fn create(&self, resource: &Resource, object: impl Serialize) -> Result<Object, Rejection> {
        let object = to_json(object)?;
        let id = self.server.lock().cluster.find(resource)?;
        self.server
            .write(id, |cluster, now| cluster.create(id, None, object, now))
    }

    /// Replaces the object of this name and namespace; conditionally, if it has a version.
    ///
    /// # Errors
    ///
    /// 404 if there is none, 409 if version or uid is another, 400 or 422 for a wrong object.
    pub fn replace(
        &self,
        resource: &Resource,
        object: impl Serialize,
    ) -> Result<Object, Rejection> {
        let object = to_json(object)?;
        let id = self.server.lock().cluster.find(resource)?;
        let text = |field: &str| object["metadata"][field].as_str().map(str::to_owned);
        let name = text("name").unwrap_or_default();
        let namespace = text("namespace").or(Some("default".to_owned()));
        let namespace = namespace.filter(|_| resource.namespaced);
        self.server.write(id, |cluster, _| {
            cluster.replace(id, namespace.as_deref(), &name, object, Part::Whole)
        })
    }

    /// Changes an object by a merge patch (RFC 7396). `namespace` is ignored for what has none.
    ///
    /// # Errors
    ///
    /// As [`ApiServer::replace`].
    pub fn patch(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        patch: impl Serialize,
    ) -> Result<Object, Rejection> {
        let patch = to_json(patch)?;
        let id = self.server.lock().cluster.find(resource)?;
        let namespace = resource.namespaced.then_some(namespace);
        self.server.write(id, |cluster, _| {
            cluster.patch(id, namespace, name, &patch, Part::Whole)
        })
    }

    /// Deletes an object, or marks it while it has finalizers.
    ///
    /// # Errors
    ///
    /// 404 if there is none.
    pub fn delete(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<Deletion, Rejection> {
        self.delete_if(resource, namespace, name, &Preconditions::default())
    }

    /// Deletes an object if it is the one meant.
    ///
    /// # Errors
    ///
    /// 404 if there is none, 409 if a precondition does not hold.
    pub fn delete_if(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
        preconditions: &Preconditions,
    ) -> Result<Deletion, Rejection> {
        let id = self.server.lock().cluster.find(resource)?;
        let namespace = resource.namespaced.then_some(namespace);
        self.server.write(id, |cluster, now| {
            cluster.delete(id, namespace, name, preconditions, now)
        })
    }

    /// One object. `namespace` is ignored for what has none.
    ///
    /// # Errors
    ///
    /// 404 if there is none.
    pub fn get(
        &self,
        resource: &Resource,
        namespace: &str,
        name: &str,
    ) -> Result<Object, Rejection> {
        let state = self.server.lock();
        let id = state.cluster.find(resource)?;
        state
            .cluster
            .get(id, resource.namespaced.then_some(namespace), name)
    }

    /// Lists as a client would, but meets no faults and leaves nothing in the log.
    ///
    /// # Errors
    ///
    /// As a client would get them: 410, 504, 400, 422.
    pub fn list(&self, resource: &Resource, options: &ListOptions) -> Result<Listing, Rejection> {
        let state = self.server.lock();
        state.cluster.list(state.cluster.find(resource)?, options)
    }

    /// All objects of a resource, and the version at which they are all there is.
    ///
    /// # Errors
    ///
    /// 404 for an unknown resource.
    pub fn snapshot(&self, resource: &Resource) -> Result<(Vec<Object>, u64), Rejection> {
        let listing = self.list(resource, &ListOptions::default())?;
        Ok((listing.items, listing.version))
    }

    /// How many objects of a resource there are; 0 for an unknown one.
    pub fn count(&self, resource: &Resource) -> usize {
        let state = self.server.lock();
        state
            .cluster
            .find(resource)
            .map_or(0, |id| state.cluster.count(id))
    }

    /// The version of the last write.
    pub fn version(&self) -> u64 {
        self.server.lock().cluster.version()
    }

    /// Compacts the history up to now: older states, continue tokens and new watches from older
    /// versions are answered with 410. Open watches still get what they have not read.
    pub fn compact(&self) {
        let mut state = self.server.lock();
        let version = state.cluster.version();
        state.cluster.compact(version);
    }

    /// Compacts, and drops what open watches have not read yet: those get 410 in their stream.
    pub fn compact_and_forget(&self) {
        self.compact();
        let mut state = self.server.lock();
        state.cluster.forget_compacted();
        state.wake_all();
    }

    /// Rewinds the history to an earlier version, as restoring etcd from a backup does.
    /// Open watches are closed.
    ///
    /// # Errors
    ///
    /// 410 if the history does not reach back that far, 504 if it has not got there yet.
    // FM-39
    pub fn restore(&self, version: u64) -> Result<(), Rejection> {
        let mut state = self.server.lock();
        state.cluster.restore(version)?;
        state.wake_all();
        Ok(())
    }

    /// Gives out versions without a write, as other tenants of an etcd do.
    pub fn skip_versions(&self, count: u64) {
        self.server.lock().cluster.skip_versions(count);
    }

    /// Scripts a fault for requests to come.
    pub fn fault(&self, requests: Match, fault: Fault, times: Times) -> FaultId {
        self.server.lock().script.add(requests, fault, times)
    }

    /// Takes a fault back; one that is used up is gone already.
    pub fn remove_fault(&self, id: FaultId) {
        self.server.lock().script.remove(id);
    }

    /// How many requests have met a fault, also after it was used up or taken back.
    pub fn fault_hits(&self, id: FaultId) -> u64 {
        self.server.lock().script.met(id).len() as u64
    }

    /// The numbers of those requests, by which [`requests`](Self::requests) knows them.
    pub fn fault_requests(&self, id: FaultId) -> Vec<u64> {
        self.server.lock().script.met(id).to_vec()
    }

    /// Takes all faults back.
    pub fn clear_faults(&self) {
        self.server.lock().script.clear();
    }

    /// The requests so far, each with its answer and the reason for it: print it when a test
    /// fails. The last 100,000 are kept.
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.server.lock().log.records()
    }

    /// Forgets the requests so far.
    pub fn clear_requests(&self) {
        self.server.lock().log.clear();
    }

    /// How many watches of a resource are open; 0 for an unknown one.
    pub fn open_watches(&self, resource: &Resource) -> usize {
        let state = self.server.lock();
        let id = state.cluster.find(resource);
        id.map_or(0, |id| *state.signal(id).open().borrow())
    }

    /// Waits until so many watches of a resource are open. Never returns for an unknown one.
    ///
    /// # Cancel safety
    ///
    /// Safe; nothing is kept.
    pub async fn wait_for_watches(&self, resource: &Resource, count: usize) {
        let signal = {
            let state = self.server.lock();
            state.cluster.find(resource).map(|id| state.signal(id))
        };
        let Ok(signal) = signal else {
            return std::future::pending().await;
        };
        let mut open = signal.open().subscribe();
        // Cannot fail: `signal` holds the sender.
        let reached = open.wait_for(|open| *open == count).await;
        drop(reached);
    }

    /// Closes all open watches cleanly, as a server does that is shut down gracefully.
    pub fn close_watches(&self) {
        let mut state = self.server.lock();
        state.closings += 1;
        state.wake_all();
    }

    /// Breaks all open watches in the middle of the stream, as a server does that crashes.
    pub fn cut_watches(&self) {
        let mut state = self.server.lock();
        state.closings += 1;
        state.cut = state.closings;
        state.wake_all();
    }

    /// Lets all open watches fall silent for ever, as connections do whose other end has gone
    /// without a word.
    // FM-16, FM-19
    pub fn silence_watches(&self) {
        let mut state = self.server.lock();
        state.silences += 1;
        state.wake_all();
    }

    /// Says something to the open watches of a resource that is not in the history. It comes
    /// between the changes before and after it, also to a watch that reads it late.
    ///
    /// # Errors
    ///
    /// 404 for an unknown resource.
    pub fn interject(&self, resource: &Resource, what: Interjection) -> Result<(), Rejection> {
        let mut state = self.server.lock();
        let id = state.cluster.find(resource)?;
        state.interject(id, what);
        Ok(())
    }

    /// How many open watches of a resource have sent all there is and wait for news; 0 for an
    /// unknown one. A watch notices news when it is next asked for them.
    pub fn idle_watches(&self, resource: &Resource) -> usize {
        let state = self.server.lock();
        let id = state.cluster.find(resource);
        id.map_or(0, |id| state.signal(id).idle().load(Ordering::Relaxed))
    }

    /// A source for a reflector, without HTTP.
    ///
    /// # Errors
    ///
    /// 404 for an unknown resource.
    pub fn source<T>(&self, resource: &Resource) -> Result<Source<T>, Rejection>
    where
        T: DeserializeOwned + Send + Sync + 'static,
    {
        Source::new(self, resource)
    }
}

fn to_json(object: impl Serialize) -> Result<Value, Rejection> {
    serde_json::to_value(object)
        .map_err(|error| Rejection::bad_request(format!("the object is not JSON: {error}")))
}

impl fmt::Debug for ApiServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.server.lock();
        f.debug_struct("ApiServer")
            .field("version", &state.cluster.version())
            .field("compacted", &state.cluster.compacted())
            .finish_non_exhaustive()
    }
}
