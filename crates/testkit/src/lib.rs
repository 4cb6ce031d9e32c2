//! A Kubernetes API server in memory, for tests of whatever lists, watches and writes.
//!
//! One history of versions, served in two ways: straight through the reflector's port
//! ([`ApiServer::source`]), and as HTTP, without sockets ([`ApiServer::service`]) or on loopback
//! ([`ApiServer::serve`]). Faults are scripted per request ([`ApiServer::fault`]) and mean the same
//! in both. [`ApiServer::requests`] tells why each request was answered as it was.
//!
//! This crate does not depend on informers, stores, handlers or kube-rs. A `kube_client::Client`
//! takes the service as it takes any other.
//!
//! ```
//! use informer_testkit::{ApiServer, Fault, Match, Resource, Times};
//! use k8s_openapi::api::core::v1::Pod;
//! use kube_client::{Api, Client, api::ListParams};
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let server = ApiServer::new();
//! server.create(&Resource::pods(), serde_json::json!({"metadata": {"name": "a"}}))?;
//! let busy = Fault::status(429, "TooManyRequests", "slow down");
//! server.fault(Match::list().resource(&Resource::pods()), busy, Times::Once);
//!
//! let pods: Api<Pod> = Api::all(Client::new(server.service(), "default"));
//! assert!(pods.list(&ListParams::default()).await.is_err());
//! assert_eq!(pods.list(&ListParams::default()).await?.items.len(), 1);
//! println!("{}", server.requests()[0]); // #1 0.000ns list /api/v1/pods? -> 429: fault: ...
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # By task
//!
//! - Serve: [`ApiServer`], [`Builder`], [`ApiServer::service`] without sockets, [`ServerHandle`]
//!   over HTTP.
//! - Read and write directly: [`ApiServer::create`] and the like, [`Object`], [`ListOptions`],
//!   [`Listing`].
//! - Break requests: [`Fault`], [`Match`], [`Times`], and [`Damage`] in protobuf; speak to open
//!   watches: [`Interjection`].
//! - Serve JSON alone, or break protobuf: [`ProtobufSupport`].
//! - See what was requested: [`ApiServer::requests`], [`RequestRecord`].
//! - Serve a type of your own: [`Resource::custom`].
//!
//! # Where it differs from kube-apiserver
//!
//! - No authentication, admission, validation of fields, defaulting or garbage collection.
//!   Namespaces need not exist. Deletion is immediate unless there are finalizers.
//! - Of patches only merge patches are understood; others are answered with 415, as for a type that
//!   does not support them. The whole object may be written through its main path, `status` too.
//! - A version ahead of the server's is refused at once, not after three seconds.
//! - Tables and aggregated discovery are not served; clients fall back to what is. Bodies of
//!   requests and discovery are JSON.
//! - Objects in JSON are as the test wrote them. In protobuf they are as Go writes them: members
//!   that the kind does not have are left out, and structs that Go always writes, such as `status`
//!   and the `resources` of a container, are there. kube-apiserver does so in both formats.
//! - An object with a value of a wrong type, such as a text for `spec`, has its identity in
//!   protobuf and does not decode, as in JSON.
//! - `dryRun=All` is honoured by every write over HTTP. [`ApiServer`]'s own methods always write.
//! - `status` exists for every resource; other subresources do not. Every object has a
//!   `metadata.generation`.
//!
//! Validated by etcd's nine watch properties on its own traces: `src/proof`.
#![forbid(unsafe_code)]
#![doc(test(attr(deny(warnings))))]

mod api_server;
mod builder;
mod change;
mod cluster;
mod collection;
mod continue_token;
mod decode;
mod fault;
mod feed;
mod field_selector;
mod fields;
mod http;
mod interjection;
mod label_parser;
mod label_selector;
mod label_syntax;
mod list_tampering;
mod listing;
mod merge_patch;
mod object;
#[cfg(test)]
mod proof;
mod protobuf;
mod rejection;
mod request_log;
mod resource;
mod selection;
mod server;
mod source;
mod tampering;
mod timestamp;
mod validation;
mod watch_start;
mod wire;
mod write;

pub use api_server::ApiServer;
pub use builder::Builder;
pub use change::{Change, EventKind};
pub use cluster::{Cluster, ResourceId};
pub use continue_token::ContinueToken;
pub use fault::{Fault, FaultId, Match, Times};
pub use field_selector::FieldSelector;
pub use http::{ApiBody, ApiService, ServerHandle};
pub use interjection::Interjection;
pub use label_selector::LabelSelector;
pub use listing::{ListOptions, Listing};
pub use object::Object;
pub use protobuf::{Damage, ProtobufSupport};
pub use rejection::{Rejection, RejectionDetails};
pub use request_log::{RequestLine, RequestRecord, Verb};
pub use resource::Resource;
pub use selection::Selection;
pub use source::{Events, Source};
pub use write::{Deletion, Part, Preconditions};
