//! Kubernetes objects from protobuf, through serde.
#![forbid(unsafe_code)]
#![doc(test(attr(deny(warnings))))]

mod decode;
mod envelope;
mod error;
mod schema;
mod text;
mod wire;

pub use decode::{Deserializer, from_slice};
pub use envelope::Envelope;
pub use error::{Error, ErrorKind};
pub use schema::Schema;
