//! The memory of a value, and the allocations when a damaged one is unpacked.
//!
//! A program of its own with one test, because it counts every byte that is allocated.

use std::alloc::System;
use std::sync::Arc;

use informer_packed::{DEFAULT_LEVEL, Dictionary, Packed, Packer, UnpackError};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The bytes that a value takes where it is kept.
const INLINE: usize = 24;

/// The place of the length in a value: behind our header and a byte of zstd's frame.
const STATED: usize = 6;

fn document(n: usize) -> Vec<u8> {
    let field = |i: usize| format!("\"field-{i}\": \"{}\", ", (n * 31 + i) % 97);
    (0..60).map(field).collect::<String>().into_bytes()
}

/// Calls `f`, and returns what was allocated meanwhile.
fn allocated<R>(f: impl FnOnce() -> R) -> (R, Stats) {
    let region = Region::new(ALLOCATOR);
    let result = f();
    let stats = region.change();
    (result, stats)
}

/// Unpacks a damaged value, and fails if it allocates more than it states.
fn check_damaged(damaged: &Packed) {
    let stated = damaged.len();
    let (result, stats) = allocated(|| damaged.unpack());
    let refused = matches!(
        result,
        Err(UnpackError::Header | UnpackError::TooLong { .. })
    );
    let limit = if refused { 0 } else { stated };
    assert!(stats.bytes_allocated <= limit, "{damaged:?}: {stats:?}");
    assert!(stats.bytes_reallocated <= 0, "{damaged:?}: {stats:?}");
    assert!(limit <= Packed::MAX_LEN);
}

#[test]
fn a_value_costs_one_allocation_and_damage_none_beyond_the_stated_length() {
    assert_eq!(size_of::<Packed>(), INLINE);
    let dictionary = Dictionary::train((0..500).map(document), 4096).expect("enough samples");
    let packer = Packer::with_dictionary(Arc::new(dictionary), DEFAULT_LEVEL);
    let packer = packer.expect("a trained dictionary is usable");
    let value = document(1234);
    // The first calls make the contexts of the thread, with room for longer values than follow.
    let longer = packer.pack(&[document(1), document(2), document(3)].concat());
    longer.unpack().expect("is not damaged");

    let (packed, stats) = allocated(|| packer.pack(&value));
    assert!(!packed.is_stored());
    assert_eq!(
        (stats.allocations, stats.reallocations),
        (1, 0),
        "{stats:?}"
    );
    assert_eq!(stats.bytes_allocated, packed.packed_len());
    assert_eq!(packed.memory(), INLINE + packed.packed_len());

    let (unpacked, stats) = allocated(|| packed.unpack());
    assert_eq!(unpacked.as_deref(), Ok(&value[..]));
    assert_eq!((stats.allocations, stats.bytes_allocated), (1, value.len()));

    let mut reused = unpacked.expect("compared above");
    let (result, stats) = allocated(|| packed.unpack_into(&mut reused));
    assert_eq!((result, stats.allocations), (Ok(()), 0));

    for bit in 0..packed.packed_len() * 8 {
        check_damaged(&packed.damaged(|bytes| bytes[bit / 8] ^= 1 << (bit % 8)));
    }
    for len in 0..packed.packed_len() {
        check_damaged(&packed.damaged(|bytes| bytes.truncate(len)));
    }
    for stated in 0..=u16::MAX {
        check_damaged(&packed.damaged(|bytes| {
            bytes[STATED..STATED + 2].copy_from_slice(&stated.to_le_bytes());
        }));
    }
    for stated in [1 << 24, (1 << 24) + 1, 1 << 40, u64::MAX - 2, u64::MAX] {
        check_damaged(&packed.damaged(|bytes| {
            // One segment, and a length of eight bytes.
            bytes[STATED - 1] |= 0b1110_0000;
            bytes.splice(STATED..STATED + 2, stated.to_le_bytes());
        }));
    }
}
