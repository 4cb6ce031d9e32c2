//! Damaged values: an error, or the bytes that were packed.
//!
//! `tests/budget.rs` counts the allocations.

use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;

use super::samples;
use crate::{DEFAULT_LEVEL, Packed, Packer, UnpackError};

/// The length of the header that is ours.
const HEADER: usize = 5;

/// Small values of each kind, with the bytes that were packed.
static VALUES: LazyLock<Vec<(Packed, Vec<u8>)>> = LazyLock::new(|| {
    let with_dictionary = samples::packer(&samples::dictionary(1));
    let plain = Packer::new(DEFAULT_LEVEL);
    let long: Vec<u8> = (0..8).flat_map(|n| samples::line(1, n)).collect();
    let values = [
        (&plain, Vec::new()),
        (&plain, b"stored".to_vec()),
        (&plain, b"repeated ".repeat(40)),
        (&plain, long.clone()),
        (&with_dictionary, samples::line(1, 4321)),
        (&with_dictionary, long),
    ];
    values
        .map(|(packer, value)| (packer.pack(&value), value))
        .into()
});

/// Whether it is an error; fails if it is other bytes.
fn is_error(damaged: &Packed, value: &[u8], what: &str) -> bool {
    let stated = damaged.len();
    match damaged.unpack() {
        Ok(unpacked) => {
            assert!(unpacked == value, "{what}: other bytes of {damaged:?}");
            assert_eq!(stated, value.len(), "{what}: {damaged:?}");
            false
        }
        Err(_) => true,
    }
}

#[test]
fn every_flipped_bit_is_an_error_or_changes_nothing() {
    for (packed, value) in VALUES.iter() {
        let bits = packed.packed_len() * 8;
        let unseen = (0..bits).filter(|bit| {
            let damaged = packed.damaged(|bytes| bytes[bit / 8] ^= 1 << (bit % 8));
            !is_error(&damaged, value, &format!("bit {bit}"))
        });
        // A decoder of zstd ignores a bit of each frame, and some bits say the same either way.
        let unseen = unseen.count();
        assert!(
            unseen <= bits / 50,
            "{unseen} of {bits} bits of {packed:?} are not checked"
        );
    }
}

#[test]
fn every_pair_of_flipped_bits_in_the_first_bytes_is_an_error_or_changes_nothing() {
    for (packed, value) in VALUES.iter() {
        let bits = packed.packed_len().min(24) * 8;
        for (first, second) in (0..bits).flat_map(|one| (0..one).map(move |two| (one, two))) {
            let damaged = packed.damaged(|bytes| {
                bytes[first / 8] ^= 1 << (first % 8);
                bytes[second / 8] ^= 1 << (second % 8);
            });
            is_error(&damaged, value, &format!("bits {first} and {second}"));
        }
    }
}

#[test]
fn every_cut_is_an_error() {
    for (packed, value) in VALUES.iter() {
        for len in 0..packed.packed_len() {
            let damaged = packed.damaged(|bytes| bytes.truncate(len));
            assert!(
                is_error(&damaged, value, "cut"),
                "{packed:?} cut to {len} bytes"
            );
        }
    }
}

#[test]
fn every_appended_byte_is_an_error() {
    let skippable = [0x50, 0x2A, 0x4D, 0x18, 0, 0, 0, 0];
    for (packed, value) in VALUES.iter() {
        for byte in 0..=u8::MAX {
            let damaged = packed.damaged(|bytes| bytes.push(byte));
            assert!(
                is_error(&damaged, value, "appended"),
                "{packed:?} and {byte}"
            );
        }
        // A whole frame that zstd skips, and the value once more.
        let damaged = packed.damaged(|bytes| bytes.extend_from_slice(&skippable));
        assert!(is_error(&damaged, value, "skippable frame"));
        let damaged = packed.damaged(|bytes| bytes.extend_from_within(HEADER..));
        assert_eq!(is_error(&damaged, value, "twice"), !value.is_empty());
    }
}

#[test]
fn an_absurd_length_is_an_error() {
    let packed = Packer::new(DEFAULT_LEVEL).pack(&b"repeated ".repeat(40));
    assert!(!packed.is_stored());
    // A frame of one segment with a length of eight bytes, then an empty last block.
    let stating = |len: u64| {
        packed.damaged(|bytes| {
            bytes.truncate(HEADER);
            bytes.push(0b1110_0000);
            bytes.extend_from_slice(&len.to_le_bytes());
            bytes.extend_from_slice(&[1, 0, 0]);
        })
    };
    let max = Packed::MAX_LEN;
    for stated in [max as u64 + 1, u64::from(u32::MAX), 1 << 62, u64::MAX - 2] {
        let error = stating(stated).unpack().unwrap_err();
        assert_eq!(error, UnpackError::TooLong { stated, max });
    }
    let frame = |len| stating(len).unpack().unwrap_err();
    assert!(matches!(frame(max as u64), UnpackError::Frame { .. }));
    assert_eq!(frame(0), UnpackError::Checksum);
}

#[test]
fn a_value_of_another_dictionary_is_never_other_bytes() {
    // The type leaves no way to unpack with another dictionary; the checksum would find it.
    let (one, two) = (samples::dictionary(1), samples::dictionary(2));
    let (one, two) = (samples::packer(&one), samples::packer(&two));
    for n in 0..200 {
        let line = samples::line(1, n);
        let mut bytes = Vec::new();
        let _unused = one.pack(&line).damaged(|packed| bytes.clone_from(packed));
        let wrong = two
            .pack(&samples::line(2, n))
            .damaged(|packed| *packed = bytes);
        assert!(is_error(&wrong, &line, "another dictionary"));
    }
}

proptest! {
    #[test]
    fn any_bytes_in_place_of_a_value_are_an_error(
        kind in 0..3_u8,
        bytes in vec(any::<u8>(), 0..200),
    ) {
        for (packed, value) in VALUES.iter() {
            let damaged = packed.damaged(|packed| {
                packed.clear();
                packed.push(kind);
                packed.extend_from_slice(&bytes);
            });
            is_error(&damaged, value, "any bytes");
        }
    }

    #[test]
    fn any_change_of_a_value_is_an_error_or_changes_nothing(
        changes in vec((any::<usize>(), any::<u8>()), 1..6),
    ) {
        for (packed, value) in VALUES.iter() {
            let damaged = packed.damaged(|bytes| {
                for &(place, byte) in &changes {
                    let place = place % bytes.len();
                    bytes[place] = byte;
                }
            });
            is_error(&damaged, value, "changes");
        }
    }
}
