//! Lists and watches of a Kubernetes API server: an [`informer_reflector::ListWatch`] over
//! [`kube_client::Client`], from the request to the decoded item.
//!
//! [`KubeListWatch`] sends requests with `Client::send` and frames and decodes the answers itself,
//! because errors below `Api::watch` cannot be repaired above it. It does not retry, pace, remember
//! versions or decide how a failure affects the next step: `informer_reflector` does.
//!
//! # By task
//!
//! - List and watch a collection: [`KubeSource`], [`KubeListWatch`], over a [`client()`] with
//!   keep-alive.
//! - Decode less: [`Projection`], [`PartialObjectMetadata`], [`Representation`].
//! - Decode otherwise: [`Decode`], [`SerdeDecoder`], [`Transform`].
//! - Bound a peer: [`Limits`], [`Deadlines`].
// FM-29, FM-30, FM-31, FM-54, FM-56.
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
    ($bug:ident => $effect:expr) => {};
}

#[macro_use]
mod setters;

mod decode;
mod http;
mod list;
mod list_watch;
mod source;
#[cfg(any(test, fuzzing))]
mod tests;
mod transform;
mod watch;

#[cfg(any(test, sim))]
#[doc(hidden)]
pub use planted::{Planted, with as with_planted};

pub use decode::{
    decoder::{Buffers, Decode, Encoded, Wire},
    partial::PartialObjectMetadata,
    serde::SerdeDecoder,
    shape::{TypeNames, projection::Projection},
};
pub use http::client::client;
pub use list_watch::KubeListWatch;
pub use source::{Deadlines, KubeSource, Limits, ReceivedWire, Representation, WireFormat};
pub use transform::Transform;
pub use watch::stream::KubeEvents;

/// For fuzz targets, which are programs of their own (`crates/fuzz`).
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::tests::fuzzed::{
        frame_chunks, list_page, retry_after, status_classify, watch_event,
    };
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
