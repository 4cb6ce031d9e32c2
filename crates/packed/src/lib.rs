//! Byte strings kept compressed in memory, and unpacked one at a time.
//!
//! Many small values that resemble each other (log lines, documents, records) compress badly one by
//! one, because each alone repeats little. A [`Dictionary`] trained from samples of them holds what
//! they share. A [`Packer`] packs each value on its own against it, so that any value can be
//! unpacked without the others.
//!
//! ```
//! # #[cfg(feature = "zstd")] {
//! use std::sync::Arc;
//! use informer_packed::{DEFAULT_LEVEL, Dictionary, Packer};
//!
//! let line = |n: usize| format!("GET /shop/items/{n} 200 {} \"Mozilla/5.0\"", n * 37 % 5000);
//! let samples: Vec<String> = (0..500).map(line).collect();
//! let dictionary = Arc::new(Dictionary::train(&samples, 4 * 1024)?);
//! let packer = Packer::with_dictionary(dictionary, DEFAULT_LEVEL)?;
//!
//! let packed = packer.pack(line(1234).as_bytes());
//! assert!(packed.packed_len() < packed.len());
//! assert_eq!(packed.unpack()?, line(1234).as_bytes());
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - A [`Packed`] value shares its dictionary through an `Arc`. It can be unpacked with no other
//!   dictionary, however many generations of them are in use, and an old dictionary is freed with
//!   the last value that needs it.
//! - A value costs one allocation for its bytes, and 24 bytes inline.
//! - Each value has a checksum of its unpacked bytes. Damage is an [`UnpackError`], never a panic,
//!   and never an allocation beyond the length that the value states ([`Packed::MAX_LEN`] at most).
//! - A value that does not become smaller is stored as it is.
//!
//! Without the feature `zstd`, which is on by default and compiles a library in C, all values are
//! stored as they are and no dictionary can be trained. This crate does not depend on JSON,
//! Kubernetes types or an async runtime.
#![forbid(unsafe_code)]
#![doc(test(attr(deny(warnings))))]

mod codec;
mod dictionary;
mod error;
mod packed;
mod packer;
#[cfg(any(test, fuzzing))]
mod tests;
mod trained;

pub use dictionary::Dictionary;
pub use error::{DictionaryError, TrainError, UnpackError};
pub use packed::Packed;
pub use packer::{DEFAULT_LEVEL, Packer};
pub use trained::Trained;

/// The example of the README is a test.
#[cfg(all(doctest, feature = "zstd"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// For fuzz targets, which are programs of their own (`crates/fuzz`).
#[cfg(fuzzing)]
#[doc(hidden)]
pub use tests::fuzzed as fuzzing;
