//! Objects of Go, damage of their bytes, and dropped fields by a seed: what the tests decode.

use std::sync::OnceLock;

use proptest::prelude::*;
use proptest::sample::Index;

use crate::{Dropped, DroppedFields};

/// Objects of all kinds, made and encoded by Go's types.
const OBJECTS: &[u8] = include_bytes!("../tests/data/objects.bin");

/// The bodies of the objects of a kind.
pub(crate) fn bodies(api_version: &str, kind: &str) -> Vec<&'static [u8]> {
    let mut rest = OBJECTS;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let mut part = || {
            let (length, tail) = rest.split_first_chunk::<4>().expect("a length");
            let (part, tail) = tail.split_at(u32::from_be_bytes(*length) as usize);
            rest = tail;
            part
        };
        let (version, name, _, body) = (part(), part(), part(), part());
        if version == api_version.as_bytes() && name == kind.as_bytes() {
            found.push(body);
        }
    }
    found
}

/// A change of some bytes.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    Set(Index, u8),
    Flip(Index, u8),
    Cut(Index),
    Remove(Index, u8),
    /// Copies bytes to another place: fields that are there twice, lists with gaps.
    Copy(Index, Index, u8),
}

pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        any::<Index>().prop_map(Damage::Cut),
        (any::<Index>(), 1..20_u8).prop_map(|(at, count)| Damage::Remove(at, count)),
        (any::<Index>(), any::<Index>(), 1..40_u8)
            .prop_map(|(from, to, count)| Damage::Copy(from, to, count)),
    ]
}

impl Damage {
    pub(crate) fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let length = bytes.len();
        let end = |at: usize, count: u8| length.min(at + usize::from(count));
        match self {
            Self::Set(at, byte) => bytes[at.index(length)] = *byte,
            Self::Flip(at, bit) => bytes[at.index(length)] ^= 1 << bit,
            Self::Cut(at) => bytes.truncate(at.index(length)),
            Self::Remove(at, count) => {
                let at = at.index(length);
                bytes.drain(at..end(at, *count));
            }
            Self::Copy(from, to, count) => {
                let from = from.index(length);
                let copied = bytes[from..end(from, *count)].to_vec();
                let to = to.index(length);
                bytes.splice(to..to, copied);
            }
        }
    }
}

/// Drops fields by a seed.
#[derive(Debug)]
pub(crate) struct Random {
    seed: u64,
    children: [OnceLock<Box<Random>>; 4],
    /// Set if all fields are asked for each time.
    is_plain: bool,
    fields: DroppedFields,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            children: Default::default(),
            is_plain: false,
            fields: DroppedFields::new(),
        }
    }

    fn with_seed(&self, seed: u64) -> Self {
        Self {
            is_plain: self.is_plain,
            ..Self::new(seed)
        }
    }

    /// Drops the same fields, and has no place for them.
    pub(crate) fn plain(seed: u64) -> Self {
        Self {
            is_plain: true,
            ..Self::new(seed)
        }
    }
}

impl Dropped for Random {
    fn child(&self, name: &str) -> Option<&dyn Dropped> {
        let hash = name.bytes().fold(self.seed, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // A child that is shared by names is still a tree, and the same one for each order of them.
        let index = hash >> 20 & 7;
        let slot = self.children.get(index as usize)?;
        let seed = (self.seed ^ (index + 1)).wrapping_mul(0xd134_2543_de82_ef95);
        let child = slot.get_or_init(|| Box::new(self.with_seed(seed ^ seed >> 29)));
        Some(child.as_ref())
    }

    fn is_dropped(&self) -> bool {
        self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61 == 0
    }

    fn fields(&self) -> Option<&DroppedFields> {
        (!self.is_plain).then_some(&self.fields)
    }
}
