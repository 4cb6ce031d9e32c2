//! The wire format: fields at the end of the bytes that are there.

use crate::wire::{BYTES, FIXED64, VARINT};

pub(crate) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn tag(out: &mut Vec<u8>, number: u32, wire: u8) {
    varint(out, u64::from(number) << 3 | u64::from(wire));
}

pub(crate) fn int_field(out: &mut Vec<u8>, number: u32, value: u64) {
    tag(out, number, VARINT);
    varint(out, value);
}

pub(super) fn float_field(out: &mut Vec<u8>, number: u32, value: f64) {
    tag(out, number, FIXED64);
    out.extend(value.to_le_bytes());
}

/// Writes the tag and the length of a field, whose bytes follow.
pub(super) fn length_field(out: &mut Vec<u8>, number: u32, len: usize) {
    tag(out, number, BYTES);
    varint(out, len as u64);
}

pub(crate) fn bytes_field(out: &mut Vec<u8>, number: u32, value: &[u8]) {
    length_field(out, number, value.len());
    out.extend(value);
}

/// Returns the length of a field of `len` bytes with a number below 16.
pub(super) fn field_len(len: usize) -> usize {
    1 + width(len) + len
}

/// Returns the number of bytes that a length takes.
#[inline]
pub(crate) fn width(length: usize) -> usize {
    let bits = usize::BITS - (length | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_of_a_field_is_that_of_its_bytes() {
        for len in [0, 1, 127, 128, 16_383, 16_384, 2_097_152] {
            let mut out = Vec::new();
            bytes_field(&mut out, 15, &vec![0; len]);
            assert_eq!(field_len(len), out.len());
        }
    }
}
