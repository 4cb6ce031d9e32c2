//! Shared informers for Kubernetes: one watch and one cache per resource, indexes, listers, and
//! any number of handlers.
//!
//! This crate wires four layers together, which do not depend on each other and can be used alone.
//! [`reflector`] lists and watches, [`deltafifo`] queues received changes, [`store`] holds the
//! objects with indexes, [`processor`] notifies handlers. [`kube_source`] connects the reflector to
//! an API server.
//!
//! ```no_run
//! use std::time::Duration;
//! use informer_factory::{Callbacks, Grace, SharedInformerFactory, index};
//! use k8s_openapi::api::core::v1::Pod;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = informer_factory::client(kube_client::Config::infer().await?)?;
//! let factory = SharedInformerFactory::new(client);
//! let pods = factory.informer::<Pod>();
//! let by_node = pods.add_index("node", index::node)?;
//! let names = Callbacks::new().on_add(|added| println!("{}", added.key));
//! pods.add_handler(names)?;
//! factory.start()?;
//! factory.wait_for_sync(Duration::from_secs(30)).await?;
//! println!("{} pods, {} on node-17", pods.lister().all().len(), by_node.get("node-17").len());
//! factory.shutdown(Grace::default()).await?;
//! # Ok(()) }
//! ```
//!
//! | feature | adds |
//! | --- | --- |
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
mod checker;
mod controller;
mod error;
pub mod index;
mod informer;
mod lister;
mod object;
mod options;
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
pub use checker::consistency::{
    Check, CheckOutcome, Consistency, ConsistencyStatus, Mismatch, NotChecked, OnMismatch,
};
pub use controller::{Controller, ControllerConfig, ControllerHandle, ControllerReport, OnFailure};
pub use error::{
    AddHandlerError, AddIndexError, AlreadyStopped, Culprit, FromOwnCallback, InformerError,
    NotSynced, RuntimeGone, StartError, WaitForVersionError,
};
pub use informer::SharedInformer;
/// The queue layer.
pub use informer_deltafifo as deltafifo;
/// The source layer: lists and watches of an API server.
pub use informer_kube_source as kube_source;
/// The handler layer.
pub use informer_processor as processor;
/// The protocol layer.
pub use informer_reflector as reflector;
/// The cache layer.
pub use informer_store as store;
pub use lister::{ListByLabels, lister_of};
pub use object::{Object, Owner};
pub use options::{InformerOptions, Namespaces, QueueKind};
pub use rbac_role::{RbacRole, RbacRoles, RbacRule};
pub use running::shutdown::{Grace, InformerReport, ShutdownReport};
pub use sharing::builder::FactoryBuilder;
pub use sharing::factory::SharedInformerFactory;
pub use status::telemetry;
pub use status::{InformerState, InformerStatus, SourceStatus};

pub use informer_kube_source::{Decode, PartialObjectMetadata, Projection, Transform, client};
pub use informer_object::{Identity, KeyError, ObjectKey, ResourceVersion, Uid};
pub use informer_processor::{
    AddError, Added, AsyncHandler, Callbacks, Cause, Deleted, EventStream, Filtered, Handler,
    ListenerConfig, Notification, Overflow, Registration, Updated, async_fn, handler_fn,
};
pub use informer_store::{Index, Lister, StoreReader};

/// The examples of the project's README, which are tests of this crate since it has all layers.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
