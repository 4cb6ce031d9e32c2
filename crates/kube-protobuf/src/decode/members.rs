//! The members of a message as the visitor sees them: the fields of the wire, the fields of inline
//! messages among them, and the ones that JSON has although the wire lacks them.

use super::dropped::Within;
use crate::error::{Error, ErrorKind, Result, Segment};
use crate::schema::{Field, Ignored, Kind, Message, NAMES, Schema, Shape};
use crate::wire;

/// Inline messages are nested at most twice, and `apiVersion` and `kind` are one more.
const MAX_INLINE: usize = 3;

/// The members of one message.
pub(crate) struct Members<'de> {
    frame: Frame<'de>,
    /// The messages around an inline one, from the outside in. The first `level` are in use.
    outer: [Frame<'de>; MAX_INLINE],
    level: usize,
    /// The field whose key the visitor has.
    pub(super) pending: Option<Pending>,
    pub(super) depth: u8,
    /// The `apiVersion` and `kind` that come first, if they are supplied.
    pub(super) names: Option<[&'de str; 2]>,
    supplied: usize,
    pub(super) dropped: Within<'de>,
    /// A bit for the number of each field that may have a child in `dropped`. These bits and the
    /// next ones are of the fields of the outermost message.
    children: u64,
    /// A bit for the number of each field that is skipped: dropped ones, and ignored ones.
    skipped: u64,
    /// The fields that the visitor ignores.
    ignored: Option<&'static Ignored>,
    /// What is dropped within the pending field.
    pub(super) within: Within<'de>,
}

/// A message that is being read.
#[derive(Clone, Copy)]
pub(super) struct Frame<'de> {
    message: &'static Message,
    pub(super) rest: &'de [u8],
    /// A bit for the number of each field that was there.
    seen: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Pending {
    pub(super) field: &'static Field,
    pub(super) source: Source,
}

/// The source of the value of a field.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// The wire, with this wire type.
    Wire(u8),
    /// The wire lacks the field.
    Missing,
    /// The name of this index, which is supplied.
    Supplied(usize),
}

impl<'de> Members<'de> {
    #[inline]
    pub(super) fn new(message: &'static Message, rest: &'de [u8], depth: u8) -> Self {
        let frame = Frame::new(message, rest);
        Self {
            frame,
            outer: [frame; MAX_INLINE],
            level: 0,
            pending: None,
            depth,
            names: None,
            supplied: 0,
            dropped: None,
            children: 0,
            skipped: 0,
            ignored: None,
            within: None,
        }
    }

    /// Puts the members of another message before these.
    pub(super) fn before(mut self, message: &'static Message, rest: &'de [u8]) -> Self {
        let outer = std::mem::replace(&mut self.frame, Frame::new(message, rest));
        (self.outer[0], self.level) = (outer, 1);
        self
    }

    /// Leaves out fields.
    #[inline]
    pub(super) fn leave_out(&mut self, dropped: Within<'de>) {
        let Some(node) = dropped else { return };
        self.dropped = dropped;
        self.children = u64::MAX;
        if let Some(fields) = node.fields()
            && let Some(found) = fields.of(self.frame.message, node)
        {
            self.skipped |= found.dropped;
            self.children = found.children;
        }
    }

    /// Skips the fields that the visitor ignores.
    #[inline]
    pub(super) fn skip_ignored(&mut self, ignored: Option<&'static Ignored>) {
        self.ignored = ignored;
        let fields = ignored.map_or(0, Ignored::fields);
        self.skipped |= fields;
        if fields & NAMES != 0 {
            self.names = None;
        }
    }

    /// Remembers that the visitor ignores the pending field.
    #[inline]
    pub(super) fn remember_ignored(&self) {
        let (Some(ignored), Some(pending)) = (self.ignored, &self.pending) else {
            return;
        };
        match pending.source {
            // The fields of an inline message have numbers of their own.
            Source::Wire(_) | Source::Missing if self.level != 0 => {}
            Source::Wire(_) | Source::Missing => ignored.add(1 << pending.field.number),
            // `kind` is the second name. A visitor that fails for unknown fields failed before.
            Source::Supplied(index) => ignored.add(NAMES * index as u64),
        }
    }

    /// Whether the pending field, or something within it, may be dropped.
    #[inline]
    pub(super) fn may_be_dropped(&self, pending: &Pending) -> bool {
        let is_outermost = self.level == 0 && !matches!(pending.source, Source::Supplied(_));
        match is_outermost {
            true => self.children & 1 << pending.field.number != 0,
            false => self.dropped.is_some(),
        }
    }

    /// Goes on with the fields of an inline message.
    fn enter(&mut self, field: &Field, rest: &'de [u8]) -> Result<()> {
        let free = self.outer.get_mut(self.level);
        let (Kind::Message(entry), Some(free)) = (field.kind, free) else {
            return Err(Error::at(ErrorKind::TooDeep, rest));
        };
        let inner = Frame::new(entry.message(), rest);
        *free = std::mem::replace(&mut self.frame, inner);
        self.level += 1;
        Ok(())
    }

    /// Returns to the message around; false if this is the outermost.
    #[inline]
    fn leave(&mut self) -> bool {
        let Some(level) = self.level.checked_sub(1) else {
            return false;
        };
        self.level = level;
        self.frame = self.outer[level];
        true
    }

    /// Returns the bytes that begin with the value of the pending field.
    #[inline]
    pub(super) fn rest(&mut self) -> &mut &'de [u8] {
        &mut self.frame.rest
    }

    /// Whether the members are those of the message, all of them.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.dropped.is_none() && self.names.is_none()
    }

    /// Returns the next name that is supplied.
    #[inline]
    pub(super) fn next_supplied(&mut self) -> Option<Pending> {
        let index = self.supplied;
        self.names?.get(index)?;
        self.supplied += 1;
        let field = Schema::type_meta().fields().field(index as u32 + 1)?;
        Some(Pending {
            field,
            source: Source::Supplied(index),
        })
    }

    /// Finds the next member of the message.
    pub(super) fn next(&mut self) -> Result<Option<Pending>> {
        loop {
            self.frame.skip_fields(match self.level {
                0 => self.skipped,
                _ => 0,
            });
            let found = match self.frame.rest.is_empty() {
                false => self.frame.next_on_wire()?,
                true => match self.frame.next_missing() {
                    None if self.leave() => continue,
                    None => return Ok(None),
                    found => found,
                },
            };
            let Some(pending) = found else { continue };
            if pending.field.shape != Shape::Inline {
                return Ok(Some(pending));
            }
            let rest = match pending.source {
                Source::Wire(_) => wire::bytes(&mut self.frame.rest)?,
                Source::Missing | Source::Supplied(_) => &[],
            };
            self.enter(pending.field, rest)?;
        }
    }
}

impl<'de> Frame<'de> {
    #[inline]
    pub(super) fn new(message: &'static Message, rest: &'de [u8]) -> Self {
        Self {
            message,
            rest,
            seen: 0,
        }
    }

    /// Reads the next tag; `None` if the field is skipped, because it is unknown or left out.
    #[inline]
    pub(super) fn next_on_wire(&mut self) -> Result<Option<Pending>> {
        let start = self.rest;
        let (number, wire) = wire::tag(&mut self.rest)?;
        let message = self.message;
        let Some(field) = message.field(number) else {
            return wire::skip(&mut self.rest, wire).map(|()| None);
        };
        let expected = field.wire;
        if wire != expected {
            let packed = wire == wire::BYTES && field.shape == Shape::List;
            if !packed {
                return Err(wrong_wire(field, wire, start));
            }
            if self.rest.first() == Some(&0) {
                self.rest = &self.rest[1..];
                return Ok(None);
            }
        }
        let bit = 1 << number;
        if self.seen & bit != 0 {
            return Err(in_field(field, ErrorKind::Repeated, start));
        }
        self.seen |= bit;
        if field.omitted && field.shape == Shape::Value && self.skip_zero(field)? {
            return Ok(None);
        }
        Ok(Some(Pending {
            field,
            source: Source::Wire(wire),
        }))
    }

    /// Skips the next fields that no visitor receives: zeros that JSON leaves out, and those of
    /// `skipped`, which are not read as zeros either if the wire lacks them.
    ///
    /// A field that is not as encoders write it stays. [`next_on_wire`](Self::next_on_wire) and the
    /// visitor read it as any other, and find the same errors.
    #[inline]
    fn skip_fields(&mut self, skipped: u64) {
        let Self {
            message,
            rest,
            seen,
        } = *self;
        (self.rest, self.seen) = skip_fields(message, rest, (seen, skipped));
        if self.rest.is_empty() {
            self.seen |= skipped;
        }
    }

    /// Skips the next integers, and the next strings that are ASCII.
    ///
    /// A field that is not as encoders write it stays, as in `skip_fields`.
    #[inline]
    pub(super) fn skip_scalars(&mut self) {
        while let Some((bit, behind)) = behind_scalar(self.message, self.rest, self.seen) {
            self.seen |= bit;
            self.rest = behind;
        }
    }

    /// Skips the value if it is zero.
    #[inline]
    fn skip_zero(&mut self, field: &Field) -> Result<bool> {
        let mut ahead = self.rest;
        let is_zero = match field.kind {
            Kind::F64 => wire::double(&mut ahead)? == 0.0,
            // Go reads the lower 32 bits, whatever the others are.
            Kind::I32 => wire::varint(&mut ahead)? as i32 == 0,
            // An integer, or a length.
            _ => wire::varint(&mut ahead)? == 0,
        };
        if is_zero {
            self.rest = ahead;
        }
        Ok(is_zero)
    }

    /// Returns the next field that JSON has although the wire lacks it.
    #[inline]
    fn next_missing(&mut self) -> Option<Pending> {
        let missing = self.message.always & !self.seen;
        let field = self.message.field(missing.trailing_zeros())?;
        self.seen |= missing & missing.wrapping_neg();
        Some(Pending {
            field,
            source: Source::Missing,
        })
    }
}

/// Returns the bytes behind fields that are skipped, and a bit for the number of each field that
/// was there.
#[inline]
fn skip_fields<'de>(
    message: &'static Message,
    mut rest: &'de [u8],
    (mut seen, skipped): (u64, u64),
) -> (&'de [u8], u64) {
    while let Some((bit, behind)) = behind_skipped(message, rest, (seen, skipped)) {
        seen |= bit;
        rest = behind;
    }
    (rest, seen)
}

/// Returns the bit of the next field and the bytes behind it, if the field is skipped.
#[inline]
fn behind_skipped<'de>(
    message: &'static Message,
    mut rest: &'de [u8],
    (seen, skipped): (u64, u64),
) -> Option<(u64, &'de [u8])> {
    let (number, wire) = wire::short_tag(&mut rest)?;
    let bit = 1_u64.checked_shl(number)?;
    if seen & bit != 0 {
        return None;
    }
    let is_skipped = skipped & bit != 0;
    match (is_skipped, message.is_single(bit, wire)) {
        (true, true) => wire::skip_quickly(&mut rest, wire)?,
        (true, false) if message.field(number)?.wire == wire => {
            wire::skip_quickly_all(&mut rest, number, wire)?;
        }
        // The byte is an integer or a length.
        (false, true) if message.left_out & bit != 0 && wire != wire::FIXED64 => {
            rest = rest.strip_prefix(&[0])?;
        }
        _ => return None,
    }
    Some((bit, rest))
}

/// Returns the bit of the next field and the bytes behind it, if it is an integer or ASCII.
#[inline]
fn behind_scalar<'de>(
    message: &'static Message,
    mut rest: &'de [u8],
    seen: u64,
) -> Option<(u64, &'de [u8])> {
    let (number, wire) = wire::short_tag(&mut rest)?;
    let bit = 1_u64.checked_shl(number)? & !seen;
    match wire {
        wire::BYTES if bit & message.texts != 0 => {
            let text = wire::bytes_quickly(&mut rest)?;
            wire::is_ascii(text).then_some((bit, rest))
        }
        wire::VARINT if bit & message.integers() != 0 => {
            wire::skip_quickly(&mut rest, wire)?;
            Some((bit, rest))
        }
        _ => None,
    }
}

#[cold]
fn wrong_wire(field: &Field, found: u8, at: &[u8]) -> Error {
    let expected = field.wire;
    let kind = match found {
        3 | 4 => ErrorKind::Group,
        _ => ErrorKind::WireType { expected, found },
    };
    in_field(field, kind, at)
}

#[cold]
fn in_field(field: &Field, kind: ErrorKind, at: &[u8]) -> Error {
    Error::at(kind, at).within(Segment::Field(field.name))
}
