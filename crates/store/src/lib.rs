//! A keyed store with named indexes: one writer, many readers, and every query answered from
//! one snapshot.
//!
//! This crate has never heard of Kubernetes, of events or deltas, of HTTP, or of async. An object
//! is any `T: Send + Sync`; a key is a name in a namespace.
//!
//! ```
//! use informer_store::{Entry, ObjectKey, store};
//!
//! struct Pod { node: &'static str }
//!
//! let (mut writer, reader) = store::<Pod>();
//! let by_node = writer.add_index("node", |pod: &Pod| [pod.node])?;
//! let key = ObjectKey::new(Some("default"), "nginx")?;
//! writer.add(key, Entry::new(Pod { node: "n1" }, "uid", "7"));
//!
//! assert_eq!(reader.get("default/nginx").map(|pod| pod.node), Some("n1"));
//! assert_eq!(by_node.get("n1").len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - Readers never wait for the writer, nor the writer for them: a state is published by swapping
//!   one pointer, and a [`Snapshot`] keeps the one it was taken from.
//! - A [`Batch`] becomes visible at once: items, indexes, applied versions, sequence (STX-4).
//! - Listing is in key order, always.
//!
//! How it is built, and why: `docs/adr/0002-store-structure.md` in the repository.
#![forbid(unsafe_code)]
#![doc(test(attr(deny(warnings))))]

#[macro_use]
mod planted;

mod batch;
mod bulk;
mod commit;
mod cursor;
mod entry;
mod error;
mod hashes;
mod ids;
mod index;
mod index_handle;
mod items;

mod lister;
#[cfg(any(test, fuzzing))]
mod proof;
mod published;
mod reader;
mod record;
mod records;
mod replace;
#[cfg(all(test, shuttle))]
mod schedules;
mod slots;
mod snapshot;
mod state;
mod values;
mod writer;

#[cfg(any(test, sim))]
#[doc(hidden)]
pub use planted::{Planted, with as with_planted};

pub use batch::{Batch, Scope};
pub use commit::Commit;
pub use cursor::Cursor;
pub use entry::Entry;
pub use error::{IndexError, TooManyValues};
pub use index_handle::Index;
pub use informer_object::{KeyError, ObjectKey, ResourceVersion, Uid};
pub use lister::{Lister, NamespaceLister};
pub use reader::StoreReader;
pub use snapshot::{Entries, Snapshot};
pub use writer::{StoreWriter, store};

/// For fuzz targets, which are programs of their own (`crates/fuzz`).
#[cfg(fuzzing)]
#[doc(hidden)]
pub use proof::fuzzed as fuzzing;
