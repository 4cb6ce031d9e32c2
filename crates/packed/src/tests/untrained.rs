//! Bytes that are not a dictionary, and debug output without bytes.

use crate::{DEFAULT_LEVEL, Dictionary, DictionaryError, Packer};

#[test]
fn bytes_that_are_no_dictionary_are_refused() {
    let untrained = |bytes: &[u8]| Dictionary::from_bytes(bytes).map(|_| ()).unwrap_err();
    for bytes in [
        &b""[..],
        b"GET / HTTP/1.1",
        b"\x37\xA4\x30",
        b"\x37\xA4\x30\xEC",
    ] {
        let len = bytes.len();
        assert_eq!(untrained(bytes), DictionaryError::Untrained { len });
    }
}

#[test]
fn nothing_of_a_value_is_shown() {
    let packed = Packer::new(DEFAULT_LEVEL).pack(b"secret");
    assert_eq!(
        format!("{packed:?}"),
        "Packed { len: 6, packed_len: 11, dictionary: None, .. }"
    );
}

#[cfg(not(feature = "zstd"))]
#[test]
fn without_the_feature_training_says_so() {
    let error = Dictionary::train(["a", "b"], 1024).map(|_| ()).unwrap_err();
    assert_eq!(error, crate::TrainError::NoCodec);
    let bytes = b"\x37\xA4\x30\xEC1234";
    let error = Dictionary::from_bytes(bytes).map(|_| ()).unwrap_err();
    assert_eq!(error, DictionaryError::NoCodec);
}

#[cfg(not(feature = "zstd"))]
#[test]
fn without_the_feature_values_are_stored() {
    let packed = Packer::new(DEFAULT_LEVEL).pack(&[7; 1000]);
    assert!(packed.is_stored());
    let compressed = packed.damaged(|bytes| bytes[0] = 1);
    assert_eq!(compressed.unpack(), Err(crate::UnpackError::Header));
}

#[cfg(feature = "zstd")]
mod trained {
    use std::sync::Arc;

    use super::*;
    use crate::TrainError;
    use crate::tests::samples;

    #[test]
    fn too_few_samples_are_an_error_with_their_number() {
        let error = Dictionary::train([b"one", b"two"], 1024)
            .map(|_| ())
            .unwrap_err();
        let TrainError::Samples { samples, bytes, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((samples, bytes), (2, 6));
    }

    #[test]
    fn a_damaged_dictionary_is_refused_or_packs_what_it_can_unpack() {
        let whole = samples::dictionary(1);
        let line = samples::line(1, 77);
        // The tables are at the beginning.
        for byte in 0..300 {
            for bit in 0..8 {
                let mut bytes = whole.as_bytes().to_vec();
                bytes[byte] ^= 1 << bit;
                let Ok(dictionary) = Dictionary::from_bytes(&bytes) else {
                    continue;
                };
                if let Ok(packer) = Packer::with_dictionary(Arc::new(dictionary), DEFAULT_LEVEL) {
                    assert_eq!(packer.pack(&line).unpack().as_deref(), Ok(&line[..]));
                }
            }
        }
    }
}
