//! A Kubernetes API server in memory, for tests.
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
mod label_selector;
mod listing;
mod merge_patch;
mod object;
#[cfg(test)]
mod proof;
mod rejection;
mod request_log;
mod resource;
mod selection;
mod server;
mod source;
mod tampering;
mod timestamp;
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
pub use label_selector::LabelSelector;
pub use listing::{ListOptions, Listing};
pub use object::Object;
pub use rejection::Rejection;
pub use request_log::{RequestLine, RequestRecord, Verb};
pub use resource::Resource;
pub use selection::Selection;
pub use source::{Events, Source};
pub use write::{Deletion, Part, Preconditions};
