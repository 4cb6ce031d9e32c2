//! The memory of a decoded object, estimated without decoding it.

// SEC-18

use crate::error::Error;
use crate::schema::{Entry, Field, Kind, Schema, Shape, TEXT};
use crate::wire;

/// Memory for all elements of a list is allocated in one step up to this size. A list grows by
/// doubling beyond.
pub(crate) const LIST_AT_ONCE: usize = 1024 * 1024;

/// The entries of one node of a `BTreeMap`, and those of the emptiest one beside the root.
const NODE_ENTRIES: usize = 11;
const FEWEST_ENTRIES: usize = 5;

/// The bytes of a node beside its entries.
const NODE: usize = 16;

/// Edges to the nodes below, for each entry.
const EDGES: usize = 16;

/// A `serde_json::Value`, and the values that a list of them is allocated for at first.
const JSON: usize = 32;
const JSON_AT_FIRST: usize = 4;

/// Allocators round up to this size.
const GRAIN: usize = 16;

/// Estimates the memory of an object as a type of `k8s-openapi`, from the table alone.
///
/// The estimate is not below the bytes that the object keeps allocated and its own size, and for
/// usual objects it is at most four times as much. Counting stops as soon as the estimate is above
/// `most` bytes, so a caller that refuses such objects reads little of them: two bytes of a message
/// can be an empty container, which is a struct of more than a kilobyte.
///
/// Nothing is decoded, and nothing is allocated but errors. A damaged message counts as far as it
/// can be read, and what is around it counts in full: a decode may skip the damaged message and
/// find the rest.
///
/// ```
/// use informer_kube_protobuf::{Schema, decoded_bytes};
///
/// let pod = Schema::of("v1", "Pod").expect("a built-in kind");
/// // A spec with two empty containers.
/// let bytes = decoded_bytes(pod, b"\x12\x04\x12\x00\x12\x00", usize::MAX);
/// assert!(bytes > decoded_bytes(pod, b"", usize::MAX) + 2 * 1024, "{bytes}");
/// ```
#[must_use]
pub fn decoded_bytes(schema: Schema, message: &[u8], most: usize) -> usize {
    let mut estimate = Estimate { bytes: 0, most };
    let entry = schema.entry();
    // Both the end of the bytes and a reason to stop earlier leave what was counted.
    let _counted: Result<(), Stop> = estimate
        .add(entry.size())
        .and_then(|()| estimate.message(entry, message, 1));
    estimate.bytes
}

/// The bytes that were counted.
struct Estimate {
    bytes: usize,
    most: usize,
}

/// Why counting stops.
enum Stop {
    /// The estimate is above the most that is asked for.
    Above,
    /// The message is damaged. Its length is known, so what is around it is counted.
    Damaged,
}

impl From<Error> for Stop {
    fn from(_: Error) -> Self {
        Self::Damaged
    }
}

type Result<T, E = Stop> = std::result::Result<T, E>;

/// Goes on behind a damaged value.
#[inline]
fn behind(counted: Result<()>) -> Result<()> {
    match counted {
        Err(Stop::Damaged) => Ok(()),
        counted => counted,
    }
}

/// The adjacent elements or entries of one field.
#[derive(Default)]
struct Run {
    number: u32,
    bytes: usize,
}

impl Estimate {
    #[inline]
    fn add(&mut self, bytes: usize) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        match self.bytes <= self.most {
            true => Ok(()),
            false => Err(Stop::Above),
        }
    }

    #[inline]
    fn add_text(&mut self, length: usize) -> Result<()> {
        self.add(length.next_multiple_of(GRAIN))
    }

    /// Counts what is behind the pointers of a message.
    fn message(&mut self, entry: &'static Entry, mut rest: &[u8], depth: u8) -> Result<()> {
        if depth > wire::MAX_DEPTH {
            return Err(Stop::Damaged);
        }
        let message = entry.message();
        let mut run = Run::default();
        while !rest.is_empty() {
            let (number, wire) = wire::tag(&mut rest)?;
            let Some(field) = message.field(number) else {
                wire::skip(&mut rest, wire)?;
                continue;
            };
            if run.number != number {
                run = Run { number, bytes: 0 };
            }
            if wire != field.wire {
                self.packed(field, wire, &mut rest)?;
                continue;
            }
            match (field.shape, field.kind) {
                (Shape::Map, kind) => self.entry(&mut run, kind, &mut rest, depth)?,
                (Shape::List, kind) => {
                    self.element(&mut run, kind.size())?;
                    self.value(kind, &mut rest, depth)?;
                }
                (_, kind) => {
                    if let Kind::Message(inner) = kind
                        && entry.boxes(inner)
                    {
                        self.add(inner.size())?;
                    }
                    self.value(kind, &mut rest, depth)?;
                }
            }
        }
        Ok(())
    }

    /// Counts an element of a list.
    fn element(&mut self, run: &mut Run, size: usize) -> Result<()> {
        let before = run.bytes;
        run.bytes = before.saturating_add(size);
        match (before > LIST_AT_ONCE, run.bytes > LIST_AT_ONCE) {
            (_, false) => self.add(size),
            (false, true) => self.add(run.bytes.saturating_mul(2)),
            (true, true) => self.add(size.saturating_mul(2)),
        }
    }

    /// Counts numbers that share one tag, which are allocated by doubling.
    fn packed(&mut self, field: &Field, wire: u8, rest: &mut &[u8]) -> Result<()> {
        if wire != wire::BYTES || field.shape != Shape::List {
            wire::skip(rest, wire)?;
            return Ok(());
        }
        let count = wire::bytes(rest)?.len().saturating_add(4);
        self.add(count.saturating_mul(field.kind.size() * 2))
    }

    /// Counts an entry of a map.
    fn entry(&mut self, run: &mut Run, kind: Kind, rest: &mut &[u8], depth: u8) -> Result<()> {
        let mut entry = wire::bytes(rest)?;
        let node = (TEXT + kind.size()) * NODE_ENTRIES + NODE;
        let size = match run.bytes {
            0 => node,
            _ => node / FEWEST_ENTRIES + EDGES,
        };
        run.bytes = run.bytes.saturating_add(size);
        self.add(size)?;
        behind(self.members_of_entry(kind, &mut entry, depth))
    }

    fn members_of_entry(&mut self, kind: Kind, entry: &mut &[u8], depth: u8) -> Result<()> {
        while !entry.is_empty() {
            match wire::tag(entry)? {
                (1, wire::BYTES) => self.add_text(wire::bytes(entry)?.len())?,
                (2, wire) if wire == kind.wire() => self.value(kind, entry, depth)?,
                (_, wire) => wire::skip(entry, wire)?,
            }
        }
        Ok(())
    }

    /// Counts what is behind the pointers of one value.
    fn value(&mut self, kind: Kind, rest: &mut &[u8], depth: u8) -> Result<()> {
        if kind.wire() != wire::BYTES {
            wire::skip(rest, kind.wire())?;
            return Ok(());
        }
        let bytes = wire::bytes(rest)?;
        behind(self.content(kind, bytes, depth))
    }

    /// Counts what is behind the pointers of a value with a length.
    fn content(&mut self, kind: Kind, bytes: &[u8], depth: u8) -> Result<()> {
        match kind {
            Kind::Time | Kind::MicroTime | Kind::Duration => Ok(()),
            // Base64 is read in groups of three bytes.
            Kind::Bytes => self.add_text(bytes.len().saturating_add(3)),
            // An empty one is "0".
            Kind::Quantity => self.add_text(bytes.len().max(1)),
            Kind::Json => self.json(wire::only_field(bytes)?),
            Kind::Names => self.names(bytes),
            Kind::Message(inner) | Kind::Choice(inner, _) => self.message(inner, bytes, depth + 1),
            _ => self.add_text(bytes.len()),
        }
    }

    /// Counts the strings of a message that contains nothing else.
    fn names(&mut self, mut rest: &[u8]) -> Result<()> {
        let mut run = Run::default();
        while !rest.is_empty() {
            let (_, wire) = wire::tag(&mut rest)?;
            if wire == wire::BYTES {
                self.element(&mut run, TEXT)?;
                self.add_text(wire::bytes(&mut rest)?.len())?;
            } else {
                wire::skip(&mut rest, wire)?;
            }
        }
        Ok(())
    }

    /// Counts a JSON text as a `serde_json::Value`.
    fn json(&mut self, text: &[u8]) -> Result<()> {
        const NODE_OF_JSON: usize = (TEXT + JSON) * NODE_ENTRIES + NODE;
        // The strings are not longer than the text.
        self.add(text.len())?;
        // A bit for each value around, from the innermost one up: whether it is an object.
        let mut is_object = 0_u128;
        // The first allocation of an object or array, which an empty one does not make.
        let mut first = 0;
        let mut bytes = text.iter();
        while let Some(byte) = bytes.next() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => continue,
                b'}' | b']' => {
                    is_object >>= 1;
                    first = 0;
                    continue;
                }
                _ => self.add(std::mem::take(&mut first))?,
            }
            match byte {
                b'{' => (is_object, first) = (is_object << 1 | 1, NODE_OF_JSON),
                b'[' => (is_object, first) = (is_object << 1, JSON * JSON_AT_FIRST),
                b',' if is_object & 1 == 1 => self.add(NODE_OF_JSON / FEWEST_ENTRIES + EDGES)?,
                b',' => self.add(JSON * 2)?,
                b'"' => {
                    self.add(GRAIN)?;
                    skip_string(&mut bytes);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Moves behind the quote that ends a string.
fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}
