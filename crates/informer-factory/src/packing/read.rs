//! Reads packed objects: unpacks the bytes and decodes them, with memory that each thread keeps.

use std::any::type_name;
use std::cell::Cell;

use informer_kube_protobuf::{Envelope, seal};
use informer_kube_source::{Encoded, ReceivedWire, SerdeDecoder, TypeNames, Wire};
use informer_packed::{Packed, UnpackError};
use informer_reflector::{DecodeError, DecodeErrorCategory};
use metrics::counter;
use serde::de::DeserializeOwned;

use crate::status::telemetry;

/// The capacity that a thread keeps for its next object.
const KEPT: usize = 256 * 1024;

thread_local! {
    /// Room for the bytes of an unpacked object.
    static MEMORY: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A packed object could not be read as a type.
///
/// The object itself is as the server sent it, and can be read as another type.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The object does not have the shape of the type.
    #[error("cannot decode the packed object as the requested type: {0}")]
    Decode(#[from] DecodeError),
    /// The packed bytes cannot be unpacked, because they are damaged or there is no memory.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
}

/// Decodes a packed object as `R`.
pub(super) fn read<R: DeserializeOwned + 'static>(
    wire: ReceivedWire,
    content: &Packed,
) -> Result<R, ReadError> {
    // Taken out meanwhile, since a `Deserialize` of the caller may read another object.
    let mut memory = MEMORY.try_with(Cell::take).unwrap_or_default();
    let result = unpack(wire, content, &mut memory);
    if memory.capacity() <= KEPT {
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

fn unpack<R: DeserializeOwned + 'static>(
    wire: ReceivedWire,
    content: &Packed,
    bytes: &mut Vec<u8>,
) -> Result<R, ReadError> {
    content.unpack_into(bytes)?;
    Ok(decode(&SerdeDecoder::default(), wire, bytes)?)
}

/// Decodes the bytes that an object keeps.
pub(super) fn decode<R: DeserializeOwned + 'static>(
    decoder: &SerdeDecoder,
    wire: ReceivedWire,
    kept: &[u8],
) -> Result<R, DecodeError> {
    // They were well formed when they were packed, and the checksum has been compared.
    match wire {
        ReceivedWire::Protobuf => {
            let envelope = Envelope::parse(kept).map_err(|_| damaged())?;
            let names = TypeNames::new(envelope.api_version, envelope.kind);
            decoder.decode_message(envelope.raw, names)
        }
        _ => decoder.decode_checked_text(kept),
    }
}

#[cold]
fn damaged() -> DecodeError {
    DecodeError::new(DecodeErrorCategory::Syntax, "?".to_owned(), 0, 0)
}

/// The format of a received object, and the bytes of it to keep.
///
/// A protobuf message has no type names, so it is kept as a body, which begins with them. The names
/// are the same bytes in all objects of an informer, so a dictionary packs them to a few bytes. A
/// reference to names that the informer holds would make each object 8 bytes larger.
pub(super) fn sealed(object: &Encoded<'_>, copy: &mut Vec<u8>) -> ReceivedWire {
    match object.wire {
        Wire::Protobuf(_) => {
            let (api_version, kind) = object
                .type_names
                .map_or(("", ""), |names| (names.api_version, names.kind));
            *copy = seal(api_version, kind, copy);
            ReceivedWire::Protobuf
        }
        _ => ReceivedWire::Json,
    }
}
