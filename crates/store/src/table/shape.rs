//! The sizes at which the structures of a store split, join and start anew.
//!
//! Every structure takes its sizes from a type parameter, so that tests run the same code in two
//! shapes: the shipped one, and a small one in which short histories reach every split and join.

/// The slots of a leaf in the largest shape.
pub(crate) const LARGEST_LEAF: usize = 1 << Shipped::LEAF_BITS;
/// The children of an inner node in the largest shape.
pub(crate) const LARGEST_FAN: usize = 1 << Shipped::FAN_BITS;
/// The records loaded in advance in the largest shape.
pub(crate) const LARGEST_AHEAD: usize = Shipped::AHEAD;

/// The sizes of the structures of one store. The defaults are the shipped sizes, and the largest
/// allowed ones for `LEAF_BITS`, `FAN_BITS` and `AHEAD`.
///
/// The figures behind them are in `docs/adr/0002-store-structure.md`.
pub trait Shape: Send + Sync + Unpin + 'static {
    /// A leaf of the record array has `1 << LEAF_BITS` slots.
    const LEAF_BITS: u32 = 3;
    /// An inner node of the record array has `1 << FAN_BITS` children.
    const FAN_BITS: u32 = 2;
    /// The number of slots of a leaf.
    const LEAF: usize = 1 << Self::LEAF_BITS;
    /// The number of children of an inner node.
    const FAN: usize = 1 << Self::FAN_BITS;
    /// The longest chunk of a list of numbers: 4 KiB, which is copied faster than the pointers of
    /// smaller chunks would be counted.
    const LONGEST: usize = 1024;
    /// The length of chunks of a new list, which leaves room for some growth before they split.
    const FRESH: usize = Self::LONGEST / 4 * 3;
    /// A chunk shorter than this is joined to its neighbour if there is room.
    const SHORT: usize = Self::LONGEST / 4;
    /// The average entries of a hash segment, 4 KiB, above which the number of segments doubles.
    const CROWDED: usize = 512;
    /// The numbering is renewed when at least this many numbers, and three of four, are unused.
    const MANY_HOLES: usize = 1024;
    /// The number of scattered records loaded at a time: about the number of loads that a
    /// processor keeps in flight.
    const AHEAD: usize = 32;
    /// A batch of fewer entries is filed one by one.
    const MANY: usize = 256;
}

/// The shape of every store outside of tests.
#[derive(Clone, Copy, Debug)]
pub enum Shipped {}

impl Shape for Shipped {}
