//! The fields of one message, in the order of the wire.

use super::dropped::{DroppedWithin, Within, within_field};
use super::read::{List, Map, Slot};
use crate::decode::skip_all;
use crate::wire;

/// How the fields of a message fill a `T`.
///
/// `T` implements it for itself. The fields of an inline message are in the struct of the message
/// around it, so a type of no values stands for them.
pub(super) trait Fields<T> {
    /// Describes a field that can be dropped.
    fn known(out: &T, number: u32) -> Option<Known>;

    /// Reads the value of a field.
    fn read(out: &mut T, field: Field<'_, '_, '_>) -> Option<()>;

    /// Sets the fields that JSON has although the wire lacks them.
    fn add_missing(out: &mut T, message: &Missing<'_>) -> Option<()>;
}

/// A field whose tag is read.
pub(super) struct Field<'a, 'de, 'd> {
    pub(super) number: u32,
    wire: u8,
    /// The bytes that begin with the value.
    rest: &'a mut &'de [u8],
    /// A bit for the number of each field that was there.
    seen: &'a mut u64,
    /// What is dropped within the message.
    outer: Within<'d>,
    /// What is dropped within the field.
    dropped: Within<'d>,
}

/// A field of the struct, for a decode that drops fields.
pub(super) struct Known {
    name: &'static str,
    wire: u8,
    is_repeated: bool,
}

/// A message whose fields are all read.
pub(super) struct Missing<'d> {
    seen: u64,
    pub(super) dropped: Within<'d>,
}

/// Fills `out` from the fields of a message.
pub(super) fn read_fields<F: Fields<T>, T>(
    out: &mut T,
    mut message: &[u8],
    dropped: Within<'_>,
) -> Option<()> {
    let children = dropped.map_or(0, DroppedWithin::children);
    let mut seen = 0;
    while !message.is_empty() {
        let (number, wire) = wire::tag(&mut message).ok()?;
        let mut field = Field {
            number,
            wire,
            rest: &mut message,
            seen: &mut seen,
            outer: dropped,
            dropped: None,
        };
        if 1_u64.checked_shl(number).unwrap_or(0) & children != 0
            && let Some(known) = F::known(out, number)
        {
            let Some(within) = within_field(dropped, number, known.name) else {
                match known.is_repeated {
                    true => field.skip_list(known.wire)?,
                    false => field.skip(known.wire)?,
                }
                continue;
            };
            field.dropped = within;
        }
        F::read(out, field)?;
    }
    F::add_missing(out, &Missing { seen, dropped })
}

impl Field<'_, '_, '_> {
    /// Checks the wire type, and that the field is there once.
    #[inline]
    fn check(&mut self, expected: u8) -> Option<()> {
        // The numbers of the table are below 64.
        let bit = 1_u64.checked_shl(self.number)?;
        if self.wire != expected || *self.seen & bit != 0 {
            return None;
        }
        *self.seen |= bit;
        Some(())
    }

    /// Reads a value that JSON has whatever it is.
    #[inline]
    pub(super) fn value<S: Slot>(mut self, slot: &mut S) -> Option<()> {
        self.check(S::WIRE)?;
        slot.read(self.rest, self.dropped)
    }

    /// Reads a value that JSON leaves out if it is zero.
    #[inline]
    pub(super) fn omitted<S: Slot>(mut self, slot: &mut S) -> Option<()> {
        self.check(S::WIRE)?;
        match S::skip_zero(self.rest)? {
            true => Some(()),
            false => slot.read(self.rest, self.dropped),
        }
    }

    #[inline]
    pub(super) fn list<L: List>(mut self, list: &mut L) -> Option<()> {
        self.check(L::WIRE)?;
        list.read(self.rest, self.number, self.dropped)
    }

    #[inline]
    pub(super) fn map<M: Map>(mut self, map: &mut M) -> Option<()> {
        self.check(wire::BYTES)?;
        map.read(self.rest, self.number, self.dropped)
    }

    /// Reads an inline message.
    #[inline]
    pub(super) fn inline<F: Fields<T>, T>(mut self, out: &mut T) -> Option<()> {
        self.check(wire::BYTES)?;
        let message = wire::bytes(self.rest).ok()?;
        read_fields::<F, T>(out, message, self.outer.map(DroppedWithin::inline))
    }

    /// Skips a field that the struct lacks.
    pub(super) fn skip(mut self, expected: u8) -> Option<()> {
        self.check(expected)?;
        wire::skip(self.rest, self.wire).ok()
    }

    /// Skips a list or a map that the struct lacks.
    pub(super) fn skip_list(mut self, expected: u8) -> Option<()> {
        self.check(expected)?;
        skip_all(self.rest, self.number, self.wire).ok()
    }

    /// Skips a field that is not in the table.
    pub(super) fn skip_unknown(self) -> Option<()> {
        wire::skip(self.rest, self.wire).ok()
    }
}

impl<'d> Missing<'d> {
    #[inline]
    fn lacks(&self, number: u32) -> bool {
        self.seen & (1 << number) == 0
    }

    /// Sets a value that JSON always has.
    #[inline]
    pub(super) fn value<S: Slot>(&self, slot: &mut S, number: u32, name: &str) -> Option<()> {
        if !self.lacks(number) {
            return Some(());
        }
        match within_field(self.dropped, number, name) {
            Some(within) => slot.set_missing(within),
            None => Some(()),
        }
    }

    /// Checks for a value without which serde refuses the struct.
    #[inline]
    pub(super) fn required(&self, number: u32, name: &str) -> Option<()> {
        let is_there = !self.lacks(number);
        (is_there && within_field(self.dropped, number, name).is_some()).then_some(())
    }

    /// Sets what JSON always has of an inline message.
    #[inline]
    pub(super) fn inline<F: Fields<T>, T>(&self, out: &mut T, number: u32) -> Option<()> {
        match self.lacks(number) {
            true => read_fields::<F, T>(out, &[], self.dropped.map(DroppedWithin::inline)),
            false => Some(()),
        }
    }
}

impl Known {
    pub(super) fn single(name: &'static str, wire: u8) -> Self {
        Self {
            name,
            wire,
            is_repeated: false,
        }
    }

    pub(super) fn repeated(name: &'static str, wire: u8) -> Self {
        Self {
            name,
            wire,
            is_repeated: true,
        }
    }

    // By how a field is encoded; the value tells the type.

    pub(super) fn value<S: Slot>(name: &'static str, _: &S) -> Self {
        Self::single(name, S::WIRE)
    }

    pub(super) fn omitted<S: Slot>(name: &'static str, _: &S) -> Self {
        Self::single(name, S::WIRE)
    }

    pub(super) fn pointer<S: Slot>(name: &'static str, _: &S) -> Self {
        Self::single(name, S::WIRE)
    }

    pub(super) fn list<L: List>(name: &'static str, _: &L) -> Self {
        Self::repeated(name, L::WIRE)
    }

    pub(super) fn map<M: Map>(name: &'static str, _: &M) -> Self {
        Self::repeated(name, wire::BYTES)
    }
}
