//! The port to wherever lists and watches come from.
//!
//! Resource, scope, selectors, decoding and transform belong to whoever implements [`ListWatch`];
//! versions, paging, pacing and recovery belong to the machine.

use std::{future::Future, sync::Arc, time::Duration};

use futures::Stream;

use crate::{Failure, Identity, Item, ResourceVersion};

/// A source of lists and watches for one collection.
// LW-01
#[doc(alias = "ListerWatcher")]
pub trait ListWatch: Send + Sync + 'static {
    /// The type of the objects.
    type Object: Send + Sync + 'static;

    /// The events of one watch. It ends when the server closes it; an `Err` is always its last
    /// item, and means that the frame it stands for was not complete or not valid.
    type Events: Stream<Item = Result<WatchEvent<Self::Object>, Failure>> + Send + Unpin + 'static;

    /// Fetches one page. An incomplete page is an error, never a short page.
    // FM-10
    fn list(
        &self,
        request: ListRequest,
        reuse: Arc<dyn Reuse<Self::Object>>,
    ) -> impl Future<Output = Result<Page<Self::Object>, Failure>> + Send;

    /// Opens a watch; resolves when the server has accepted it. `reuse` is consulted for initial
    /// events only.
    fn watch(
        &self,
        request: WatchRequest,
        reuse: Arc<dyn Reuse<Self::Object>>,
    ) -> impl Future<Output = Result<Self::Events, Failure>> + Send;

    /// False for a source that cannot send initial events through a watch.
    // LW-05
    fn streaming_lists(&self) -> bool {
        true
    }

    /// What is listed, for messages: a path such as `/api/v1/pods`.
    fn describe(&self) -> &str;
}

/// One request for a page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListRequest {
    /// Which state is asked for. Not sent with a continue token.
    pub version: ListVersion,
    /// Items per page; `None` asks for everything at once.
    pub limit: Option<u32>,
    /// Where the previous page ended.
    pub continue_token: Option<Arc<str>>,
    /// The resume version, if any: a list older than this must reuse nothing.
    pub resume: Option<ResourceVersion>,
    /// Whether cached objects may be reused at all.
    pub reuse: bool,
}

impl ListRequest {
    /// Requests everything at once, and decodes every object.
    pub fn new(version: ListVersion) -> Self {
        Self {
            version,
            limit: None,
            continue_token: None,
            resume: None,
            reuse: false,
        }
    }

    /// Requests at most `limit` items.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// Which state of the collection a list asks for.
// RL-13
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListVersion {
    /// `resourceVersion=0`: any state, from the watch cache if there is one.
    Any,
    /// No version: the most recent state, read consistently.
    Consistent,
    /// At least as fresh as this version.
    NotOlderThan(ResourceVersion),
    /// The state at this very version. No reflector asks for it; whoever checks one does.
    // FM-40
    Exact(ResourceVersion),
}

/// One page of a list.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page<T> {
    /// The items in the server's order.
    pub items: Vec<Item<T>>,
    /// The version of the whole list; unset if the server gave none.
    // FM-08
    pub version: ResourceVersion,
    /// Where the next page begins; `None` on the last one.
    pub continue_token: Option<Arc<str>>,
    /// How many items remain after this page, if the server said so.
    pub remaining: Option<u64>,
}

impl<T> Page<T> {
    /// The last page of a list.
    pub fn new(items: Vec<Item<T>>, version: impl Into<ResourceVersion>) -> Self {
        Self {
            items,
            version: version.into(),
            continue_token: None,
            remaining: None,
        }
    }

    /// Sets where the next page begins, if there is one.
    #[must_use]
    pub fn continued(mut self, token: Option<Arc<str>>) -> Self {
        self.continue_token = token;
        self
    }

    /// Sets how many items remain after this page, if the server said so.
    #[must_use]
    pub fn remaining(mut self, remaining: Option<u64>) -> Self {
        self.remaining = remaining;
        self
    }
}

/// One request for a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchRequest {
    /// Changes after this version are asked for.
    pub version: ResourceVersion,
    /// How long the server is asked to keep the watch open; whole seconds.
    pub timeout: Duration,
    /// Whether bookmarks are asked for.
    pub bookmarks: bool,
    /// The first events of the watch.
    // RL-24
    pub start: WatchStart,
}

impl WatchRequest {
    /// Requests the changes after `version`, with bookmarks.
    pub fn new(version: impl Into<ResourceVersion>, timeout: Duration) -> Self {
        Self {
            version: version.into(),
            timeout,
            bookmarks: true,
            start: WatchStart::Version,
        }
    }

    /// Requests the current state first.
    #[must_use]
    pub fn with_initial_events(mut self) -> Self {
        self.start = WatchStart::InitialEvents;
        self
    }

    /// Whether the current state is requested first.
    pub fn sends_initial_events(&self) -> bool {
        self.start == WatchStart::InitialEvents
    }
}

/// What a watch begins with. Exhaustive on purpose: a source must handle both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchStart {
    /// The changes after the version of the request.
    Version,
    /// The current state, not older than the version of the request and ended by a bookmark; then
    /// its changes.
    InitialEvents,
}

/// One event of a watch. Exhaustive on purpose: the protocol has these five.
#[derive(Clone, Debug)]
pub enum WatchEvent<T> {
    /// `ADDED`
    Added(Item<T>),
    /// `MODIFIED`
    Modified(Item<T>),
    /// `DELETED`, with the final state.
    Deleted(Item<T>),
    /// `BOOKMARK`
    Bookmark {
        /// Everything up to this version has been sent.
        version: ResourceVersion,
        /// The initial events of a streaming list are complete.
        initial_events_end: bool,
    },
    /// `ERROR`: the server ends the watch, and says why.
    Error(Failure),
}

/// The objects that are stored already: an unchanged one is neither decoded nor stored again.
pub trait Reuse<T>: Send + Sync {
    /// The object with this very key, uid and version. Not called when uid or version is empty.
    fn reuse(&self, identity: &Identity) -> Option<Arc<T>>;

    /// The number of objects that are stored, which a list is expected to have. Memory for that
    /// many items is reserved before the list arrives. Zero by default.
    fn expected_items(&self) -> usize {
        0
    }
}

/// No objects.
impl<T> Reuse<T> for () {
    fn reuse(&self, _: &Identity) -> Option<Arc<T>> {
        None
    }
}
