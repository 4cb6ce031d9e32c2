//! A fuzzer's bytes as packed values and as values to pack.

use std::sync::{Arc, LazyLock};

use super::samples;
use crate::{DEFAULT_LEVEL, Dictionary, Packed, Packer};

static DICTIONARY: LazyLock<Arc<Dictionary>> = LazyLock::new(|| samples::dictionary(1));

/// The first byte says what the others are: a packed value, a value, or the changes of one.
///
/// # Panics
///
/// If a value does not come back as it was packed, or a damaged one comes back as another.
pub fn unpack(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else {
        return;
    };
    let packer = match choice & 1 {
        0 => Packer::new(DEFAULT_LEVEL),
        _ => samples::packer(&DICTIONARY),
    };
    match choice / 2 % 3 {
        0 => replaced(&packer, data),
        1 => {
            let unpacked = packer.pack(data).unpack();
            assert!(unpacked.as_deref() == Ok(data), "not what was packed");
        }
        _ => changed(&packer, data),
    }
}

/// The bytes are those of a packed value.
fn replaced(packer: &Packer, data: &[u8]) {
    let packed = packer.pack(&samples::line(1, 7));
    let packed = packed.damaged(|bytes| *bytes = data.to_vec());
    if let Ok(value) = packed.unpack() {
        assert_eq!(value.len(), packed.len());
        assert!(packed.is_stored() || value.len() <= Packed::MAX_LEN);
        let again = packer.pack(&value).unpack();
        assert!(again.as_ref() == Ok(&value), "not what was packed");
    }
}

/// The kind and the checksum, which a fuzzer would write to fit other bytes.
const HEADER: usize = 5;

/// Each three bytes are a place after the header, and what is written there.
fn changed(packer: &Packer, data: &[u8]) {
    let value: Vec<u8> = (0..6).flat_map(|n| samples::line(1, n)).collect();
    let packed = packer.pack(&value).damaged(|bytes| {
        let (changes, _) = data.as_chunks::<3>();
        for &[high, low, byte] in changes {
            let place = usize::from(u16::from_be_bytes([high, low]));
            let body = &mut bytes[HEADER..];
            body[place % body.len()] = byte;
        }
    });
    if let Ok(unpacked) = packed.unpack() {
        assert!(unpacked == value, "damage was not seen");
    }
}
