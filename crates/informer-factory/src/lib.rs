//! Shared informers for Kubernetes: one watch and one cache per resource, indexes, listers, and
//! any number of handlers.
//!
//! # Start here
//!
//! ```no_run
//! use std::time::Duration;
//! use informer_factory::{Grace, SharedInformerFactory, index};
//! use k8s_openapi::api::core::v1::Pod;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = informer_factory::client(kube_client::Config::infer().await?)?;
//! let factory = SharedInformerFactory::new(client);
//! let pods = factory.informer::<Pod>();
//! let by_node = pods.add_index("node", index::node)?;
//! pods.add_handler(pods.callbacks().on_add(|added| println!("{}", added.key)))?;
//! factory.start()?;
//! factory.wait_synced(Duration::from_secs(30)).await?;
//! println!("{} pods, {} on node-17", pods.lister().all().len(), by_node.get("node-17").len());
//! factory.shutdown(Grace::default()).await?;
//! # Ok(()) }
//! ```
//!
//! A [`SharedInformerFactory`] makes informers and owns them. Equal requests share one
//! [`SharedInformer`], which is one list, one watch and one cache. [`InformerOptions`] restrict it
//! to [`Namespaces`] and selectors. Dynamic kinds, metadata and types with a decoder of your own
//! have a method each: [`dynamic`](SharedInformerFactory::dynamic),
//! [`metadata`](SharedInformerFactory::metadata) and [`decoded`](SharedInformerFactory::decoded).
//!
//! # Handlers
//!
//! A handler receives every change in order, and never delays the store or another handler. A
//! handler that is added late first receives an addition for each object in the store.
//!
//! | the handler | is added with |
//! | --- | --- |
//! | closures for additions, updates and deletions | [`callbacks`] and [`add_handler`] |
//! | one closure for all | [`handler_fn`] |
//! | a type of your own | [`Handler`] |
//! | futures | [`add_async_handler`] with [`AsyncHandler`] or [`async_fn`] |
//! | code that blocks | [`add_blocking_handler`] |
//! | a stream | [`SharedInformer::events`] |
//! | some of the objects only | [`Filtered`], with [`labelled`] for instance |
//!
//! [`ListenerConfig`] sets a handler's name, its [`Overflow`] policy and its resync period. The
//! [`Registration`] shows whether the handler is synced, waits until it has handled a version, and
//! removes it. A [`ChangeConsumer`] is for a function that may fail and is called again.
//!
//! [`callbacks`]: SharedInformer::callbacks
//! [`add_handler`]: SharedInformer::add_handler
//! [`add_async_handler`]: SharedInformer::add_async_handler
//! [`add_blocking_handler`]: SharedInformer::add_blocking_handler
//!
//! # Reading
//!
//! Readers never wait for the writer. A [`Lister`] gets objects by key, namespace and predicate, an
//! [`Index`] by a value that a function gives, such as those in [`index`](mod@index). A
//! [`StoreReader`] has [`Snapshot`]s, which keep the state they were taken from.
//! [`wait_for_version`](SharedInformer::wait_for_version) reads your own writes.
//!
//! # Memory
//!
//! [`MemoryStatus`] estimates what objects, keys, indexes, queue and handlers take, and
//! [`soft_memory_limit`] sets the bytes above which an informer logs a warning. The objects of the
//! caches are most of it. In the order of their effect:
//!
//! - [`metadata`](SharedInformerFactory::metadata) keeps metadata only; [`labels`] and [`fields`]
//!   keep fewer objects.
//! - [`Projection::lean`] drops, while decoding, fields that controllers do not read, and a
//!   [`Transform`] drops what your program does not need.
//! - [`packed_with`] keeps objects compressed beside a small view, with the feature `packed`:
//!   1.2 kB for a pod that takes 30 kB decoded, with its place in the store.
//! - [`Overflow::Coalesce`] bounds the backlog of a slow handler to two entries for each key.
//!   [`ListenerStatus`] shows the backlog.
//! - [`Limits`] bound what a server may send, and [`queue_bound`] the number of waiting keys.
//! - An object is freed on another thread than the one that decoded it, a pattern that glibc's
//!   allocator handles poorly: link mimalloc where there are many objects.
//!
//! [`packed_with`]: SharedInformerFactory::packed_with
//! [`wire`]: InformerOptions::wire()
//! [`labels`]: InformerOptions::labels
//! [`fields`]: InformerOptions::fields
//! [`queue_bound`]: InformerOptions::queue_bound
//! [`soft_memory_limit`]: InformerOptions::soft_memory_limit
//!
//! # Formats
//!
//! Servers send objects as JSON or as protobuf, which costs them much less. An object is the same
//! value from either. [`WireFormat::Auto`] is the default: protobuf for the built-in kinds and for
//! metadata of all kinds, and JSON for everything else and from servers without protobuf.
//! [`wire`] chooses one format for an informer, and [`SourceStatus::wire`] is the one that was
//! received last.
//!
//! # Errors, status and metrics
//!
//! Informers retry without end, so a failure of the server is a state and not an error:
//! [`InformerStatus`] and [`status_stream`](SharedInformer::status_stream) show it. [`NotSynced`]
//! names the sources that are not synced, and why. An object that cannot be decoded is
//! [`Quarantined`], and nothing else is affected. [`Consistency`] compares the store with the
//! server periodically. [`RbacRoles`] are the permissions that the informers need.
//!
//! Metrics are recorded with the crate `metrics`. To export them, install a recorder of your choice
//! before the factory is started, such as `PrometheusBuilder::new().install()` of
//! `metrics-exporter-prometheus`. [`telemetry`] has the names and the labels, and
//! [`telemetry::describe`] passes their descriptions to the recorder.
//!
//! # Testing
//!
//! [`lister_of`] and [`index_of`] build a lister and an index over given objects, for unit tests of
//! a reconciler. `informer-testkit` is an API server in memory, for tests of everything else:
//!
//! ```
//! use std::time::Duration;
//! use informer_factory::{Client, Grace, SharedInformerFactory, index};
//! use informer_testkit::{ApiServer, Resource};
//! use k8s_openapi::api::core::v1::Pod;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = ApiServer::new();
//! let client = Client::new(server.service(), "default");
//! let factory = SharedInformerFactory::new(client);
//! let pods = factory.informer::<Pod>();
//! let by_node = pods.add_index("node", index::node)?;
//! factory.start()?;
//!
//! let spec = json!({"nodeName": "node-7", "containers": []});
//! server.create(&Resource::pods(), json!({"metadata": {"name": "web-0"}, "spec": spec}))?;
//! pods.wait_for_version(&server.version().into(), Duration::from_secs(30)).await?;
//! assert_eq!(by_node.count("node-7"), 1);
//! factory.shutdown(Grace::default()).await?;
//! # Ok(()) }
//! ```
//!
//! # Coming from kube-runtime
//!
//! | kube-runtime | here |
//! | --- | --- |
//! | `watcher`, `WatchStreamExt` | [`SharedInformer::events`]; the informer retries by itself |
//! | `default_backoff` | built in; [`InformerOptions::reflector`] changes it |
//! | `watcher::Config` | [`InformerOptions`] and [`ReflectorConfig`] |
//! | `metadata_watcher` | [`SharedInformerFactory::metadata`] |
//! | `Event::Init`, `InitApply`, `InitDone` | [`Added`] with `initial`, and [`wait_synced`] |
//! | `Event::Apply` | [`Added`] or [`Updated`], with the object before the change |
//! | `Event::Delete` | [`Deleted`], also of an object deleted while the watch was down |
//! | `reflector`, `store_shared` | [`SharedInformerFactory::informer`]: every informer is shared |
//! | `Store` | [`Lister`], [`Index`] and [`StoreReader`] |
//! | `Store::wait_until_ready` | [`SharedInformer::wait_synced`] |
//! | `WatchStreamExt::modify` | [`Transform`] |
//! | `predicate_filter` | `on_update`, with both objects; [`Filtered`] selects by content |
//! | `Controller` | not replaced; the example `feed_kube_runtime` runs its reconcile loop |
//!
//! [`wait_synced`]: Registration::wait_synced
//!
//! # Layers and features
//!
//! This crate wires layers together that do not depend on each other and can be used alone.
//! [`reflector`] lists and watches, [`deltafifo`] queues received changes, [`store`] holds the
//! objects with indexes, [`processor`] notifies handlers. [`kube_source`] connects the reflector to
//! an API server. What a program needs of them is at the root of this crate.
//!
//! | feature | adds |
//! | --- | --- |
//! | `packed` | [`SharedInformerFactory::packed`]: objects kept as compressed bytes (compiles C) |
//! | `rustls-tls` | TLS by rustls for [`client()`]; any TLS feature of kube-client serves as well |
#![forbid(unsafe_code)]
#![doc(test(attr(deny(warnings))))]

#[cfg(any(test, sim))]
#[macro_use]
#[path = "tests/planted/bugs.rs"]
mod planted;
/// Planted bugs are part of tests and of the simulator; other builds have none.
#[cfg(not(any(test, sim)))]
macro_rules! planted {
    ($bug:ident) => {
        false
    };
}
#[macro_use]
mod setters;

mod applying;
mod change_consumer;
mod checker;
mod error;
pub mod index;
mod informer;
mod lister;
mod object;
mod options;
#[cfg(feature = "packed")]
mod packing;
mod rbac_role;
mod running;
mod sharing;
mod status;
mod sync;
#[cfg(test)]
mod tests;

#[cfg(any(test, sim))]
#[doc(hidden)]
pub use planted::{Planted, with as with_planted};

pub use applying::apply::Event;
pub use applying::quarantine::{QuarantineReason, Quarantined};
pub use change_consumer::{
    ChangeConsumer, ChangeConsumerConfig, ChangeConsumerHandle, ChangeConsumerReport, OnFailure,
};
pub use checker::consistency::{
    Check, CheckOutcome, Consistency, ConsistencyStatus, Mismatch, NotChecked, OnMismatch,
};
pub use error::{
    AddHandlerError, AddIndexError, AddNamespaceError, AlreadyStopped, Culprit, FromOwnCallback,
    HandlerNotSynced, InformerError, NotHandled, NotRunning, NotSynced, RemoveNamespaceError,
    RuntimeGone, StartError, WaitForVersionError,
};
pub use informer::SharedInformer;
pub use informer::registration::Registration;
/// The queue layer.
pub use informer_deltafifo as deltafifo;
/// The source layer: lists and watches of an API server.
pub use informer_kube_source as kube_source;
/// Packed byte strings and their dictionaries.
#[cfg(feature = "packed")]
pub use informer_packed as packed;
/// The handler layer.
pub use informer_processor as processor;
/// The protocol layer.
pub use informer_reflector as reflector;
/// The cache layer.
pub use informer_store as store;
pub use lister::{index_of, labelled, lister_of};
pub use object::{HasLabels, HasNode, HasOwners, Object, Owner};
#[cfg(feature = "packed")]
pub use options::DictionaryUse;
pub use options::{InformerOptions, Namespaces, QueueKind};
#[cfg(feature = "packed")]
pub use packing::{Labels, NoView, PackedObject, ReadError, SharedStr};
pub use rbac_role::{RbacRole, RbacRoles, RbacRule};
pub use running::shutdown::{Grace, InformerReport, ShutdownReport};
pub use sharing::builder::FactoryBuilder;
pub use sharing::factory::SharedInformerFactory;
pub use status::memory::MemoryStatus;
pub use status::telemetry;
pub use status::{InformerState, InformerStatus, SourceStatus};

pub use informer_kube_source::{
    Buffers, Deadlines, Decode, Encoded, KubeListWatch, KubeSource, Limits, PartialObjectMetadata,
    Projection, ReceivedWire, Representation, SerdeDecoder, Transform, TypeNames, Wire, WireFormat,
    client,
};
pub use informer_object::{Identity, KeyError, ObjectKey, ResourceVersion, Uid};
pub use informer_processor::{
    AddError, Added, AsyncFn, AsyncHandler, Callbacks, Cause, Deleted, EventStream, Filtered,
    Handler, HandlerFn, ListenerConfig, ListenerId, ListenerPhase, ListenerReport, ListenerStatus,
    NeverSynced, NotDelivered, Notification, Overflow, RemoveError, ResyncReason, ResyncTerms,
    StopReport, Updated, async_fn, handler_fn,
};
pub use informer_reflector::{
    Backoff, Config as ReflectorConfig, DecodeError, DecodeErrorCategory, Failure, FailureKind,
    InitialState, ListWatch, Phase, Recovery, StatusParts,
};
pub use informer_store::{
    Cursor, Entries, Entry, Index, IndexError, Lister, NamespaceLister, Scope, Snapshot,
    StoreMemory, StoreReader,
};
pub use kube_client::Client;
pub use kube_core::{ApiResource, DynamicObject, Selector};

/// The examples of the project's README, which are tests of this crate since it has all layers.
#[cfg(all(doctest, feature = "packed"))]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
