//! Packed objects: a small typed view beside compressed bytes, for large collections.
//!
//! The objects are packed where others are decoded, on the decoding threads, before they enter the
//! queue. Nothing behind the source knows of it.

mod decoder;
mod dictionaries;
mod dictionary_settings;
mod labels;
mod object;
mod read;
mod samples;
mod shared_str;
#[cfg(test)]
mod tests;
mod view;
mod wires;

pub(crate) use decoder::PackedDecoder;
pub(crate) use dictionary_settings::DictionarySettings;
pub use labels::Labels;
pub use object::PackedObject;
pub use read::ReadError;
pub use shared_str::SharedStr;
pub use view::NoView;
