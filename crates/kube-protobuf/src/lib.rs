//! Kubernetes objects from protobuf, through serde.
#![forbid(unsafe_code)]
#![doc(test(attr(deny(warnings))))]

mod decode;
mod envelope;
mod error;
mod identity;
mod list;
mod schema;
mod text;
mod watch;
mod wire;

pub use decode::{Deserializer, from_slice};
pub use envelope::Envelope;
pub use error::{Error, ErrorKind};
pub use identity::Identity;
pub use list::{ListPart, ListParts};
pub use schema::Schema;
pub use watch::{WatchEvent, split_frame};
