//! Kubernetes objects from protobuf, through serde.
//!
//! API servers answer in protobuf if a client accepts `application/vnd.kubernetes.protobuf`. This
//! crate decodes such answers into any type that implements `Deserialize`: those of `k8s-openapi`,
//! a struct with a few fields, or `serde_json::Value`.
//!
//! ```
//! use informer_kube_protobuf::{Envelope, to_body};
//! use serde::Deserialize;
//! use serde_json::json;
//!
//! #[derive(Deserialize)]
//! struct ConfigMap<'a> {
//!     kind: &'a str,
//!     immutable: Option<bool>,
//! }
//!
//! let body = to_body(&json!({"apiVersion": "v1", "kind": "ConfigMap", "immutable": true}))?;
//! let object: ConfigMap = Envelope::parse(&body)?.decode()?;
//! assert_eq!((object.kind, object.immutable), ("ConfigMap", Some(true)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Envelope`], [`ListParts`], [`split_frame`], [`WatchEvent`] and [`Identity`] take apart what
//!   is around an object.
//! - [`from_slice`] decodes one message by its [`Schema`]. The schemas are in a table, which is
//!   made from the Go types of Kubernetes.
//! - [`copy_without`] copies a message without some of its fields, and [`decoded_bytes`] estimates
//!   the memory of the decoded object.
//! - [`to_vec`], [`to_body`], [`seal`] and [`to_frame`] write what an API server writes, for tests.
//!
//! An object decodes to the same value from JSON and from protobuf. A visitor receives the members
//! that JSON would have: zero values that JSON leaves out are left out, inline messages are flat,
//! bytes are base64, times are strings.
//!
//! Damage is an [`Error`], never a panic, and no stated length allocates anything. Messages, lists
//! and maps may be nested 128 times.
#![forbid(unsafe_code)]
#![doc(test(attr(deny(warnings))))]

#[cfg(test)]
mod damaged;
mod decode;
mod encode;
mod envelope;
mod error;
mod estimate;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzed;
mod identity;
mod list;
mod schema;
#[cfg(feature = "k8s-openapi")]
mod structs;
mod text;
mod watch;
mod wire;

pub use decode::{Deserializer, Dropped, DroppedFields, KeyDeserializer, copy_without, from_slice};
pub use encode::{EncodeError, seal, to_body, to_frame, to_vec};
pub use envelope::Envelope;
pub use error::{Error, ErrorKind};
pub use estimate::decoded_bytes;
pub use identity::Identity;
pub use list::{ListPart, ListParts};
pub use schema::Schema;
pub use watch::{WatchEvent, split_frame};

/// For fuzz targets, which are programs of their own (`crates/fuzz`).
#[cfg(fuzzing)]
#[doc(hidden)]
pub use fuzzed as fuzzing;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
