//! The list and watch protocol of Kubernetes: a pure state machine, a dull driver, and a source.
//!
//! This crate has never heard of stores, queues or handlers. It asks a [`ListWatch`] for pages and
//! streams, and hands what it accepted to a [`Sink`], in an order and with versions that the sink
//! may trust.
//!
//! | feature | adds |
//! | --- | --- |
//! | (none) | the ports and the machine; no runtime, no HTTP, no TLS |
//! | `tokio` | the driver, which carries out what the machine asks for |
//! | `kube` (default) | a [`ListWatch`] over `kube_client`, with framing and decoding of its own |
//!
//! ```
//! use std::time::Duration;
//! use informer_reflector::{Config, Effect, Input, Machine};
//!
//! let mut machine = Machine::<()>::new(Config::default(), 42);
//! let mut effects = Vec::new();
//! machine.step(Duration::ZERO, Input::Start, &mut effects);
//!
//! let asked = effects.iter().find_map(|effect| match effect {
//!     Effect::Watch(request) => Some(request),
//!     _ => None,
//! });
//! // A streaming list: the initial state is asked for through a watch.
//! assert!(asked.is_some_and(|request| request.send_initial_events));
//! assert!(machine.deadline().is_some(), "and is not waited for without end");
//! ```
#![forbid(unsafe_code)]
#![doc(test(attr(deny(warnings))))]

#[macro_use]
mod planted;

mod backoff;
mod chance;
mod config;
#[cfg(feature = "tokio")]
mod driver;
mod failure;
#[cfg(feature = "kube")]
mod kube;
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
#[cfg(feature = "kube")]
pub use kube::{
    Deadlines, KubeEvents, KubeListWatch, KubeSource, Limits, PartialObjectMetadata, Projection,
    Representation, Transform,
};
pub use machine::{Demand, Effect, Input, Machine};
pub use object::{Body, DecodeError, DecodeErrorCategory, Item};
pub use report::{Observe, Phase, RelistCause, Report};
pub use sink::{Change, Emission, Refused, Sink};
pub use source::{ListRequest, ListVersion, ListWatch, Page, Reuse, WatchEvent, WatchRequest};

/// For fuzz targets, which are programs of their own (`crates/fuzz`).
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing {
    #[cfg(feature = "kube")]
    pub use crate::kube::fuzzed::{
        frame_chunks, list_page, retry_after, status_classify, watch_event,
    };
    pub use crate::tests::fuzzed::{Draw, reflector_inputs, rv_compare};
}
