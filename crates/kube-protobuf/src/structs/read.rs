//! How the types of fields are filled: values, options, lists and maps.

use std::collections::BTreeMap;

use super::dropped::{Within, within_entry};
use crate::decode::{Entries, count};
use crate::estimate::LIST_AT_ONCE;
use crate::schema::Kind;
use crate::wire;

/// The type of one value.
pub(super) trait Value: Sized {
    const WIRE: u8 = wire::BYTES;

    /// Reads the value at the front of `rest`; the inner `None` if JSON has null.
    fn read(rest: &mut &[u8], dropped: Within<'_>) -> Option<Option<Self>>;

    /// Returns the value that JSON has although the wire lacks it; the inner `None` is null.
    fn missing(dropped: Within<'_>) -> Option<Option<Self>> {
        Self::read(&mut &[0][..], dropped)
    }

    /// Skips the value at the front of `rest` if it is zero.
    #[inline]
    fn skip_zero(rest: &mut &[u8]) -> Option<bool> {
        skip_if(rest, |ahead| Some(wire::varint(ahead).ok()? == 0))
    }

    // Messages are filled in place, since most structs are large.

    #[inline]
    fn read_into(&mut self, rest: &mut &[u8], dropped: Within<'_>) -> Option<()> {
        *self = Self::read(rest, dropped)??;
        Some(())
    }

    #[inline]
    fn read_option(slot: &mut Option<Self>, rest: &mut &[u8], dropped: Within<'_>) -> Option<()> {
        *slot = Self::read(rest, dropped)?;
        Some(())
    }

    #[inline]
    fn push(list: &mut Vec<Self>, rest: &mut &[u8], dropped: Within<'_>) -> Option<()> {
        list.push(Self::read(rest, dropped)??);
        Some(())
    }
}

/// A struct before any of its fields is read.
pub(super) trait Blank {
    /// Returns the struct of an empty message.
    fn blank() -> Self;
}

/// Skips what `is_zero` reads, if it returns true.
#[inline]
pub(super) fn skip_if(
    rest: &mut &[u8],
    is_zero: impl FnOnce(&mut &[u8]) -> Option<bool>,
) -> Option<bool> {
    let mut ahead = *rest;
    let is_zero = is_zero(&mut ahead)?;
    if is_zero {
        *rest = ahead;
    }
    Some(is_zero)
}

/// The type of a field with one value.
pub(super) trait Slot {
    const WIRE: u8;

    fn read(&mut self, rest: &mut &[u8], dropped: Within<'_>) -> Option<()>;

    fn skip_zero(rest: &mut &[u8]) -> Option<bool>;

    fn set_missing(&mut self, dropped: Within<'_>) -> Option<()>;
}

impl<T: Value> Slot for T {
    const WIRE: u8 = T::WIRE;

    #[inline]
    fn read(&mut self, rest: &mut &[u8], dropped: Within<'_>) -> Option<()> {
        self.read_into(rest, dropped)
    }

    #[inline]
    fn skip_zero(rest: &mut &[u8]) -> Option<bool> {
        T::skip_zero(rest)
    }

    fn set_missing(&mut self, dropped: Within<'_>) -> Option<()> {
        // Null is the default of a field that is no option.
        if let Some(value) = T::missing(dropped)? {
            *self = value;
        }
        Some(())
    }
}

impl<T: Value> Slot for Option<T> {
    const WIRE: u8 = T::WIRE;

    #[inline]
    fn read(&mut self, rest: &mut &[u8], dropped: Within<'_>) -> Option<()> {
        T::read_option(self, rest, dropped)
    }

    #[inline]
    fn skip_zero(rest: &mut &[u8]) -> Option<bool> {
        T::skip_zero(rest)
    }

    fn set_missing(&mut self, dropped: Within<'_>) -> Option<()> {
        *self = T::missing(dropped)?;
        Some(())
    }
}

/// The type of a repeated field.
pub(super) trait List {
    const WIRE: u8;

    /// Reads all adjacent elements. The tag of the first one is read.
    fn read(&mut self, rest: &mut &[u8], number: u32, dropped: Within<'_>) -> Option<()>;
}

impl<T: Value> List for Vec<T> {
    const WIRE: u8 = T::WIRE;

    fn read(&mut self, rest: &mut &[u8], number: u32, dropped: Within<'_>) -> Option<()> {
        let count = count(rest, T::WIRE, number, T::WIRE).ok()?;
        // Two bytes may be an element of a kilobyte, and the first of them may be damaged.
        self.reserve_exact(count.min(LIST_AT_ONCE / size_of::<T>().max(1)));
        loop {
            T::push(self, rest, dropped)?;
            match wire::tag_of(rest, number).ok()? {
                Some(wire) if wire == T::WIRE => {}
                Some(_) => return None,
                None => return Some(()),
            }
        }
    }
}

impl<T: Value> List for Option<Vec<T>> {
    const WIRE: u8 = T::WIRE;

    #[inline]
    fn read(&mut self, rest: &mut &[u8], number: u32, dropped: Within<'_>) -> Option<()> {
        self.insert(Vec::new()).read(rest, number, dropped)
    }
}

/// The type of a repeated field of keys and values.
pub(super) trait Map {
    /// Reads all adjacent entries. The tag of the first one is read.
    fn read(&mut self, rest: &mut &[u8], number: u32, dropped: Within<'_>) -> Option<()>;
}

impl<T: Value> Map for BTreeMap<String, T> {
    fn read(&mut self, rest: &mut &[u8], number: u32, dropped: Within<'_>) -> Option<()> {
        const {
            assert!(
                T::WIRE == wire::BYTES,
                "the kind below is for its wire type alone"
            );
        };
        let mut entries = Entries::new(rest, Kind::Str, number, 0);
        while entries.advance().ok()? {
            let Some(within) = within_entry(dropped, entries.key) else {
                continue;
            };
            let value = match entries.value {
                Some(mut value) => T::read(&mut value, within)??,
                None => return None,
            };
            self.insert(entries.key.to_owned(), value);
        }
        Some(())
    }
}

impl<T: Value> Map for Option<BTreeMap<String, T>> {
    #[inline]
    fn read(&mut self, rest: &mut &[u8], number: u32, dropped: Within<'_>) -> Option<()> {
        self.insert(BTreeMap::new()).read(rest, number, dropped)
    }
}
