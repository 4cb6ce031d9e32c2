//! The wire formats of the informers, decided by the seed.

use std::fmt;

use informer_factory::WireFormat;

use crate::chance::Chance;

/// The generator of the formats is another one than that of the rest, so that a seed decides the
/// same outages and writes as before.
const WIRE: u64 = 0x190_0000_0000;

/// The formats of an informer and of the packed one of the same objects. They are compared, so
/// different formats are a comparison of the decoders too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wires {
    pub(crate) typed: WireFormat,
    pub(crate) packed: WireFormat,
}

impl Wires {
    /// Of a custom resource, which servers have in JSON alone.
    pub(crate) const JSON: Self = Self {
        typed: WireFormat::Json,
        packed: WireFormat::Json,
    };

    /// Draws the formats of some built-in resources.
    pub(crate) fn draw<const COUNT: usize>(seed: u64) -> [Self; COUNT] {
        let mut chance = Chance::seeded(seed ^ WIRE);
        let mut format = || match chance.below(3) {
            0 => WireFormat::Json,
            _ => WireFormat::Protobuf,
        };
        std::array::from_fn(|_| Self {
            typed: format(),
            packed: format(),
        })
    }
}

impl fmt::Display for Wires {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, packed {:?}", self.typed, self.packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides_and_two_in_three_are_protobuf() {
        assert_eq!(Wires::draw::<3>(7), Wires::draw::<3>(7));
        let drawn: Vec<_> = (0..500).flat_map(Wires::draw::<3>).collect();
        let formats = drawn.iter().flat_map(|wires| [wires.typed, wires.packed]);
        let protobuf = formats.filter(|it| *it == WireFormat::Protobuf).count();
        assert!((1_900..2_100).contains(&protobuf), "{protobuf} of 3,000");
        let differing = drawn.iter().filter(|wires| wires.typed != wires.packed);
        assert!(differing.count() > 500);
    }
}
