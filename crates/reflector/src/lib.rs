//! The list and watch protocol of Kubernetes: a pure state machine and a driver for tokio.
//!
//! The crate depends on no store, queue or handler, and on no HTTP client or JSON parser. It
//! requests pages and streams from a [`ListWatch`] and passes accepted items to a [`Sink`], with
//! versions and an order that the sink can rely on. `informer-kube-source` implements
//! [`ListWatch`] for an API server.
//!
//! # By task
//!
//! - Follow a collection with tokio: `Reflector`, with a [`Config`] and a `Control` to retry or
//!   relist.
//! - Bring a source: [`ListWatch`] with [`ListRequest`], [`Page`], [`WatchRequest`],
//!   [`WatchEvent`], [`Item`]; what went wrong: [`Failure`], from a `Status` by [`StatusParts`].
//! - Take what is received: [`Sink`], [`Emission`]; what happens meanwhile: [`Observe`],
//!   [`Report`].
//! - Drive the machine without tokio: [`Machine`], [`Input`], [`Effect`].
//!
//! # Features
//!
//! The feature `tokio` (default) adds the driver, which carries out the machine's effects. Without
//! it the crate consists of the ports and the machine.
//!
//! ```
//! use std::time::Duration;
//! use informer_reflector::{Config, Effect, Input, ListVersion, Machine};
//!
//! let mut machine = Machine::<()>::new(Config::default(), 42);
//! let mut effects = Vec::new();
//! machine.step(Duration::ZERO, Input::Start, &mut effects);
//!
//! let requested = effects.iter().find_map(|effect| match effect {
//!     Effect::List(request) => Some(request),
//!     _ => None,
//! });
//! // Any state that the server has at hand.
//! assert!(requested.is_some_and(|request| request.version == ListVersion::Any));
//! assert!(machine.deadline().is_some(), "and is not waited for without end");
//! ```
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

mod backoff;
mod chance;
mod config;
#[cfg(feature = "tokio")]
mod driver;
mod failure;
mod machine;
mod object;
mod report;
mod sink;
mod source;
#[cfg(any(test, fuzzing))]
mod tests;

#[cfg(any(test, sim))]
#[doc(hidden)]
pub use planted::{Planted, with as with_planted};

pub use config::{Backoff, Config, InitialState};
#[cfg(feature = "tokio")]
pub use driver::{Control, Outcome, Reflector};
pub use failure::{Failure, FailureKind, Recovery, StatusParts};
pub use informer_object::{Identity, KeyError, ObjectKey, ResourceVersion, Uid};
pub use machine::{Demand, Effect, Input, Machine};
pub use object::{Body, DecodeError, DecodeErrorCategory, Item};
pub use report::{Observe, Phase, RelistCause, Report};
pub use sink::{Change, Emission, Epoch, Refused, Sink};
pub use source::{
    ListRequest, ListVersion, ListWatch, Page, Reuse, WatchEvent, WatchRequest, WatchStart,
};

/// For fuzz targets, which are programs of their own (`crates/fuzz`).
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::tests::fuzzed::{Draw, delays, reflector_inputs, rv_compare};
}

/// The examples of the README are tests.
#[cfg(all(doctest, feature = "tokio"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
