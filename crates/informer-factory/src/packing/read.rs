//! Reads packed objects: unpacks the bytes and decodes them, with memory that each thread keeps.

use std::any::type_name;
use std::cell::Cell;

use informer_kube_source::{Buffers, JsonDecoder};
use informer_packed::{Packed, UnpackError};
use informer_reflector::DecodeError;
use metrics::counter;
use serde::de::DeserializeOwned;

use crate::status::telemetry;

/// The capacity that a thread keeps for its next object.
const KEPT: usize = 256 * 1024;

thread_local! {
    static MEMORY: Cell<Memory> = const { Cell::new(Memory::new()) };
}

/// A packed object could not be read as a type.
///
/// The object itself is as the server sent it, and can be read as another type.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The object does not have the shape of the type.
    #[error("the object does not fit the type: {0}")]
    Decode(#[from] DecodeError),
    /// The packed bytes cannot be unpacked, because they are damaged or there is no memory.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
}

#[derive(Default)]
struct Memory {
    text: Vec<u8>,
    buffers: Buffers,
}

impl Memory {
    const fn new() -> Self {
        Self {
            text: Vec::new(),
            buffers: Buffers::new(),
        }
    }
}

/// Decodes packed JSON as `R`.
pub(super) fn read_json<R: DeserializeOwned>(content: &Packed) -> Result<R, ReadError> {
    // Taken out meanwhile, since a `Deserialize` of the caller may read another object.
    let mut memory = MEMORY.try_with(Cell::take).unwrap_or_default();
    let result = decode(content, &mut memory);
    if memory.text.capacity() <= KEPT {
        // An error means that the thread is ending.
        MEMORY
            .try_with(|place| place.set(memory))
            .unwrap_or_default();
    }
    if result.is_err() {
        counter!(telemetry::READ_ERRORS, "type" => type_name::<R>()).increment(1);
    }
    result
}

fn decode<R: DeserializeOwned>(content: &Packed, memory: &mut Memory) -> Result<R, ReadError> {
    content.unpack_into(&mut memory.text)?;
    // It was text when it was packed, and the checksum has been compared.
    let text = std::str::from_utf8(&memory.text).unwrap_or_default();
    Ok(JsonDecoder::default().decode_text(text, &mut memory.buffers)?)
}
