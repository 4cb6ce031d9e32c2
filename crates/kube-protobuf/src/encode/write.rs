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

pub(crate) fn bytes_field(out: &mut Vec<u8>, number: u32, value: &[u8]) {
    tag(out, number, BYTES);
    varint(out, value.len() as u64);
    out.extend(value);
}
