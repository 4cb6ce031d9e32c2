//! Compression by zstd, or none without the feature `zstd`.
//!
//! Both modules have the same items, and the features choose one of them. There is no trait,
//! because no program needs two codecs: a type parameter would show in the type of every value.

#[cfg(not(feature = "zstd"))]
mod stored;
#[cfg(feature = "zstd")]
mod zstd;

#[cfg(not(feature = "zstd"))]
pub(crate) use stored::{Decoder, Encoder, decompress, stated_len, train};
#[cfg(feature = "zstd")]
pub(crate) use zstd::{Decoder, Encoder, decompress, stated_len, train};
