//! Finds where an element of a JSON array ends, 64 bytes at a time.
//!
//! Pure. It tracks strings and nesting only; whether an element is JSON is decided by the decoder.
//! The separators do not depend on how the bytes are split into pieces.
//!
//! For a block of 64 bytes, each question (is this a quote, an opening bracket, ...) gives one bit
//! per byte. Nearly all blocks of an object close fewer brackets than are open, so no byte in them
//! can be a separator, and counting bits is enough.
//!
//! All of a list passes through here on one thread, so the code is compiled for each set of vector
//! instructions, and the best one that the machine has is used.

use fearless_simd::{Level, Simd, dispatch, prelude::*, u8x64};

const BLOCK: usize = 64;
/// The bit in which the two kinds of brackets differ; no other byte differs in it alone.
const KIND: u8 = 0x20;

/// Finds the next separator of an array.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeparatorFinder {
    in_string: bool,
    /// The next byte is escaped by a backslash before it.
    escaped: bool,
    /// Brackets open within the array.
    depth: usize,
}

/// The classes of the bytes of a block; the first byte is the lowest bit. Bytes in strings are no
/// brackets.
struct Structure {
    opening: u64,
    closing: u64,
    in_string: u64,
    escaped: bool,
}

impl SeparatorFinder {
    /// The position of the next separator: a comma between elements, or the bracket that ends the
    /// array. The next call continues with the byte after it.
    pub(crate) fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        self.find_with(Level::new(), bytes)
    }

    #[inline]
    fn find_with(&mut self, level: Level, bytes: &[u8]) -> Option<usize> {
        dispatch!(level, simd => self.find_by(simd, bytes))
    }

    // What works with vectors or bits is inlined, to be compiled for the same instructions.
    #[inline(always)]
    fn find_by<S: Simd>(&mut self, simd: S, bytes: &[u8]) -> Option<usize> {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        for (index, block) in blocks.iter().enumerate() {
            if let Some(at) = self.find_in_block(u8x64::simd_from(simd, *block)) {
                return Some(index * BLOCK + at);
            }
        }
        let at = rest.iter().position(|byte| self.ends_at(*byte));
        at.map(|at| blocks.len() * BLOCK + at)
    }

    #[inline(always)]
    fn find_in_block<S: Simd>(&mut self, block: u8x64<S>) -> Option<usize> {
        let structure = self.structure(block);
        // A block without brackets is common, and counting bits takes a dozen instructions on a
        // machine that has none for it.
        let is_flat = structure.opening | structure.closing == 0 && self.depth > 0;
        if !is_flat {
            let opened = structure.opening.count_ones() as usize;
            let closed = structure.closing.count_ones() as usize;
            if self.depth > closed {
                self.depth = self.depth + opened - closed;
            } else {
                let commas = equal(block, b',') & !structure.in_string;
                if let Some(at) = self.step_through(commas, &structure) {
                    return Some(at);
                }
            }
        }
        self.in_string = structure.in_string >> (BLOCK - 1) == 1;
        self.escaped = structure.escaped;
        None
    }

    /// Checks bracket by bracket, in a block where the element may end.
    fn step_through(&mut self, commas: u64, structure: &Structure) -> Option<usize> {
        let mut bits = structure.opening | structure.closing | commas;
        while bits != 0 {
            let at = bits.trailing_zeros() as usize;
            let bit = bits & bits.wrapping_neg();
            bits ^= bit;
            if structure.opening & bit != 0 {
                self.depth += 1;
            } else if self.depth == 0 {
                *self = Self::default();
                return Some(at);
            } else if structure.closing & bit != 0 {
                self.depth -= 1;
            }
        }
        None
    }

    #[inline(always)]
    fn structure<S: Simd>(&self, block: u8x64<S>) -> Structure {
        let (escaped, escapes_next) = escaped(equal(block, b'\\'), self.escaped);
        let quotes = equal(block, b'"') & !escaped;
        let in_string = match self.in_string {
            true => !running_parity(quotes),
            false => running_parity(quotes),
        };
        // Brackets of either kind.
        let without_kind = block | KIND;
        let opening = equal(without_kind, b'{') & !in_string;
        let closing = equal(without_kind, b'}') & !in_string;
        Structure {
            opening,
            closing,
            in_string,
            escaped: escapes_next,
        }
    }

    /// Takes a single byte. Returns true if it is a separator.
    fn ends_at(&mut self, byte: u8) -> bool {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return false;
        }
        let escaped = std::mem::take(&mut self.escaped);
        match byte {
            b'\\' => self.escaped = !escaped,
            b'"' => self.in_string = !escaped,
            b'{' | b'[' => self.depth += 1,
            b',' | b'}' | b']' if self.depth == 0 => {
                *self = Self::default();
                return true;
            }
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        false
    }
}

/// The bytes of a block that equal `wanted`.
#[inline(always)]
fn equal<S: Simd>(block: u8x64<S>, wanted: u8) -> u64 {
    block.simd_eq(wanted).to_bitmask()
}

/// The bytes after an odd number of backslashes, and whether the first byte of the next block is
/// one.
#[inline(always)]
fn escaped(backslashes: u64, first_is_escaped: bool) -> (u64, bool) {
    let mut escaped = u64::from(first_is_escaped);
    let mut left = backslashes & !escaped;
    let mut escapes_next = false;
    while left != 0 {
        let bit = left & left.wrapping_neg();
        let (next, beyond) = (bit << 1, bit >> (BLOCK - 1) == 1);
        escaped |= next;
        escapes_next = beyond;
        left &= !(bit | next);
    }
    (escaped, escapes_next)
}

/// Sets each bit for which the number of set bits up to and including it is odd.
#[inline(always)]
fn running_parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The instructions of this machine, and those that each machine of the target has.
    fn levels() -> [Level; 2] {
        [Level::new(), Level::baseline()]
    }

    /// All separators of an array's inside, which ends with it; `cuts` are the pieces' sizes.
    fn separators(level: Level, bytes: &[u8], cuts: &[usize]) -> Vec<usize> {
        let mut finder = SeparatorFinder::default();
        let (mut found, mut at) = (Vec::new(), 0);
        let mut sizes = cuts.iter().copied().cycle();
        while at < bytes.len() {
            let size = sizes.next().unwrap_or(bytes.len()).max(1);
            let end = (at + size).min(bytes.len());
            while let Some(offset) = finder.find_with(level, &bytes[at..end]) {
                found.push(at + offset);
                at += offset + 1;
            }
            at = end;
        }
        found
    }

    /// Byte by byte, written from the grammar of JSON (RFC 8259) and not from the above.
    fn expected(bytes: &[u8]) -> Vec<usize> {
        let (mut found, mut stack, mut at) = (Vec::new(), 0_usize, 0);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    at += 1;
                    while at < bytes.len() && bytes[at] != b'"' {
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                }
                b'{' | b'[' => stack += 1,
                b',' | b'}' | b']' if stack == 0 => found.push(at),
                b'}' | b']' => stack -= 1,
                _ => {}
            }
            at += 1;
        }
        found
    }

    /// Bytes that matter are frequent, and a backslash stands in strings only, as in JSON.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let plain = prop::sample::select(&b"{}[],:1 x"[..]).prop_map(|byte| vec![byte]);
        let inner = prop_oneof![
            Just(b"\\\\".to_vec()),
            Just(b"\\\"".to_vec()),
            prop::sample::select(&b"{}[],ab"[..]).prop_map(|byte| vec![byte]),
            Just("é\u{1f980}".into()),
        ];
        let string = prop::collection::vec(inner, 0..20).prop_map(|parts| {
            let mut string = b"\"".to_vec();
            string.extend(parts.concat());
            string.push(b'"');
            string
        });
        let run = (1_usize..90).prop_map(|length| vec![b'7'; length]);
        prop::collection::vec(prop_oneof![6 => plain, 3 => string, 1 => run], 0..60)
            .prop_map(|parts| parts.concat())
    }

    proptest! {
        /// Whatever the pieces and the instructions, the separators are those that a reader of
        /// single bytes finds.
        #[test]
        fn separators_are_found_in_any_pieces(
            text in text(),
            cuts in prop::collection::vec(1_usize..150, 0..5),
        ) {
            for level in levels() {
                prop_assert_eq!(separators(level, &text, &cuts), expected(&text));
            }
        }
    }

    /// A run of backslashes across the end of a block counts as one run.
    #[test]
    fn escapes_cross_blocks() {
        for before in 55..70 {
            for backslashes in 0..12 {
                let mut text = vec![b'1'; before];
                text.extend(b"\"");
                text.extend(vec![b'\\'; backslashes]);
                text.extend(b"\",[\",\"],");
                text.extend(vec![b' '; 80]);
                text.extend(b"],");
                for level in levels() {
                    let found = separators(level, &text, &[]);
                    assert_eq!(found, expected(&text), "{before} {backslashes} {level:?}");
                }
            }
        }
    }
}
