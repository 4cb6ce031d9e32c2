//! A keyed store with named indexes: one writer, many readers, and every query answered from
//! one snapshot.
//!
//! This crate does not depend on Kubernetes types, on events or deltas, on HTTP, or on async. An
//! object is any `T: Send + Sync`; a key is a name in a namespace.
//!
//! ```
//! use informer_store::{Entry, ObjectKey, store};
//!
//! struct Pod { node: &'static str }
//!
//! let (mut writer, reader) = store::<Pod>();
//! let by_node = writer.add_index("node", |pod: &Pod| [pod.node])?;
//! let key = ObjectKey::new(Some("default"), "nginx")?;
//! writer.upsert(key, Entry::new(Pod { node: "n1" }, "uid", "7"));
//!
//! assert_eq!(reader.get("default/nginx").map(|pod| pod.node), Some("n1"));
//! assert_eq!(by_node.get("n1").len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - Readers never wait for the writer, nor the writer for them: a state is published by swapping
//!   one pointer, and a [`Snapshot`] keeps the state it was taken from.
//! - A [`Batch`] becomes visible in one step: items, indexes, applied versions and sequence.
//! - Every list is in key order.
//!
//! # By task
//!
//! - Write: [`store()`] makes a [`StoreWriter`] and its first reader; a [`Batch`] of [`Entry`]s is
//!   one commit, and a [`Scope`] is the part of the keys that a list replaces.
//! - Read one object or many: [`StoreReader`], or a [`Lister`] with names instead of keys.
//! - Read several times from one state: [`Snapshot`], and a [`Cursor`] to stop and go on.
//! - Find objects by a value: [`Index`]; prepared beside the writer: [`PreparedIndex`].
//!
//! The structure and the reasons for it: `docs/adr/0002-store-structure.md` in the repository.
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

mod entry;
mod error;
mod index;
mod published;
mod read;
mod state;
mod table;
#[cfg(any(test, fuzzing))]
mod tests;
mod write;

#[cfg(any(test, sim))]
#[doc(hidden)]
pub use planted::{Planted, with as with_planted};

pub use entry::Entry;
pub use error::{IndexError, TooManyValues};
pub use index::handle::Index;
pub use index::prepared::PreparedIndex;
pub use informer_object::{KeyError, ObjectKey, ResourceVersion, Uid};
pub use read::cursor::Cursor;
pub use read::lister::{Lister, NamespaceLister};
pub use read::memory::StoreMemory;
pub use read::reader::StoreReader;
pub use read::snapshot::{Entries, Snapshot};
pub use write::apply::Commit;
pub use write::batch::{Batch, Scope};
pub use write::writer::{StoreWriter, store};

// The default of a type parameter of most types here; tests have another shape.
#[doc(hidden)]
pub use table::shape::{Shape, Shipped};

/// For fuzz targets, which are programs of their own (`crates/fuzz`).
#[cfg(fuzzing)]
#[doc(hidden)]
pub use tests::fuzzed as fuzzing;
