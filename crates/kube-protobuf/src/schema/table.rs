//! The table of messages, and how its text is read.
//!
//! A line that begins with a name begins a message, with `+type` if the object has `apiVersion` and
//! `kind`, or with the rule of a message whose JSON is one of its fields. A line that begins with a
//! space is a field: number, JSON name, shape and kind. A line that begins with `=` is a kind of
//! the API and its message. Messages and kinds are sorted.

use std::sync::OnceLock;

use super::ignored::Next;

/// The generated text, which is part of the program.
const TEXT: &str = include_str!("../../schema.txt");

/// The tests read all of it.
const WELL_FORMED: &str = "the table is generated, and the tests read every line";

/// All messages and kinds.
pub(crate) struct Table {
    messages: Box<[Entry]>,
    /// Sorted by `apiVersion` and `kind`.
    kinds: Box<[BuiltIn]>,
    /// The indices of the kinds plus one, at the slot of their hash or behind it; 0 is free.
    slots: Box<[u16; SLOTS]>,
}

/// Twice the number of kinds at least, so that few slots are compared.
const SLOTS: usize = 1024;

/// One kind of the API.
struct BuiltIn {
    /// Its `apiVersion` and its `kind`.
    names: (&'static str, &'static str),
    /// The index of its message.
    message: usize,
}

/// One message, which is read when it is first used.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// The rule by which JSON is one of the fields.
    pub(crate) choice: Option<Choice>,
    /// The lines of the fields.
    lines: &'static str,
    message: OnceLock<Message>,
    /// See [`Entry::size`].
    pub(super) size: OnceLock<usize>,
    /// See [`Entry::ignored_by`].
    pub(super) ignored: Next,
}

/// A message whose JSON is one of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The schema, or whether anything is allowed.
    Bool,
    /// Several schemas, or one.
    Array,
    /// Strings, or a schema.
    Strings,
}

/// The fields of one message.
pub(crate) struct Message {
    /// At the index of their numbers, which are below 64.
    slots: Box<[Option<Field>]>,
    /// A bit for the number of each field that JSON has even if the wire lacks it.
    pub(crate) always: u64,
    /// A bit for the number of each field with one value that JSON leaves out if it is zero.
    pub(crate) left_out: u64,
    /// A bit for the number of each field with one value of the wire type that is the index.
    singles: [u64; 8],
    /// A bit for the number of each field with one string.
    pub(crate) texts: u64,
}

/// One field.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) number: u32,
    pub(crate) shape: Shape,
    /// JSON leaves the field out if it is zero.
    pub(crate) omitted: bool,
    /// The wire type of one value.
    pub(crate) wire: u8,
    pub(crate) kind: Kind,
}

/// How often a field is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A Go value: zero if the wire lacks it.
    Value,
    /// A Go pointer: null if the wire lacks it.
    Pointer,
    /// Repeated.
    List,
    /// Repeated pairs of a string and a value.
    Map,
    /// A message whose fields JSON has among those of the outer message.
    Inline,
}

/// The kind of one value.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Bool,
    I32,
    I64,
    F64,
    Str,
    /// Base64 in JSON.
    Bytes,
    Time,
    MicroTime,
    Duration,
    Quantity,
    IntOrString,
    /// JSON within the message.
    Json,
    /// A list of strings in a message of its own.
    Names,
    Message(&'static Entry),
    Choice(&'static Entry, Choice),
}

/// Returns the table. The first call finds the messages, which takes about 0.2 ms.
pub(crate) fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(Table::read)
}

impl Table {
    fn read() -> Self {
        let (mut messages, mut lines): (Vec<Entry>, Vec<&str>) = (Vec::new(), Vec::new());
        let mut rest = TEXT;
        while let Some((line, tail)) = rest.split_once('\n') {
            rest = tail;
            match line.as_bytes().first() {
                Some(b'#') | None => {}
                Some(b'=') => lines.push(&line[1..]),
                Some(_) => {
                    let end = end_of_fields(tail);
                    messages.push(Entry::new(line, &tail[..end]));
                    rest = &tail[end..];
                }
            }
        }
        let kinds = lines.into_iter().map(|line| BuiltIn::read(line, &messages));
        let kinds: Box<[BuiltIn]> = kinds.collect();
        Self {
            slots: slots(&kinds),
            kinds,
            messages: messages.into(),
        }
    }

    pub(crate) fn message(&'static self, name: &str) -> Option<&'static Entry> {
        find(&self.messages, name).map(|index| &self.messages[index])
    }

    pub(crate) fn of(&'static self, api_version: &str, kind: &str) -> Option<&'static Entry> {
        let wanted = (api_version, kind);
        let mut slot = first_slot(wanted);
        loop {
            let index = usize::from(self.slots[slot]).checked_sub(1)?;
            let found = &self.kinds[index];
            if found.names == wanted {
                return Some(&self.messages[found.message]);
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    pub(crate) fn kinds(&'static self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.kinds.iter().map(|kind| kind.names)
    }

    #[cfg(test)]
    pub(crate) fn messages(&'static self) -> &'static [Entry] {
        &self.messages
    }
}

/// Puts each kind into the first free slot.
fn slots(kinds: &[BuiltIn]) -> Box<[u16; SLOTS]> {
    assert!(kinds.len() <= SLOTS / 2, "{WELL_FORMED}");
    let mut slots = Box::new([0; SLOTS]);
    for (number, kind) in (1..).zip(kinds) {
        let mut slot = first_slot(kind.names);
        while slots[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        slots[slot] = number;
    }
    slots
}

/// The slot of a kind, unless another one is in it. Names of kinds differ in their lengths and
/// their ends.
#[inline]
fn first_slot((api_version, kind): (&str, &str)) -> usize {
    let hash = |text: &str| {
        let ends = match text.as_bytes() {
            [first, .., before, last] => [*first, *before, *last],
            _ => [0; 3],
        };
        let [first, before, last] = ends.map(usize::from);
        (first ^ before << 3 ^ last << 6 ^ text.len() << 2).wrapping_mul(0x9e37)
    };
    (hash(api_version) ^ hash(kind).wrapping_mul(3)) >> 4 & (SLOTS - 1)
}

/// The end of the lines that begin with a space.
fn end_of_fields(text: &str) -> usize {
    if !text.starts_with(' ') {
        return 0;
    }
    let bytes = text.as_bytes();
    let end = bytes
        .windows(2)
        .position(|pair| pair[0] == b'\n' && pair[1] != b' ');
    end.map_or(text.len(), |end| end + 1)
}

/// The index of the message of this name.
fn find(messages: &[Entry], name: &str) -> Option<usize> {
    let index = messages.binary_search_by(|entry| entry.name.cmp(name));
    index.ok()
}

impl BuiltIn {
    /// Reads `v1 Pod core/v1.Pod`.
    fn read(line: &'static str, messages: &[Entry]) -> Self {
        let (api_version, rest) = line.split_once(' ').expect(WELL_FORMED);
        let (kind, message) = rest.split_once(' ').expect(WELL_FORMED);
        Self {
            names: (api_version, kind),
            message: find(messages, message).expect(WELL_FORMED),
        }
    }
}

impl Entry {
    fn new(line: &'static str, lines: &'static str) -> Self {
        let (name, flags) = line.split_once(' ').unwrap_or((line, ""));
        let choice = match flags {
            "~bool" => Some(Choice::Bool),
            "~array" => Some(Choice::Array),
            "~strings" => Some(Choice::Strings),
            _ => None,
        };
        Self {
            name,
            choice,
            lines,
            message: OnceLock::new(),
            size: OnceLock::new(),
            ignored: OnceLock::new(),
        }
    }

    #[inline]
    pub(crate) fn message(&'static self) -> &'static Message {
        self.message.get_or_init(|| Message::read(self))
    }
}

impl Message {
    fn read(entry: &'static Entry) -> Self {
        let package = entry.name.split('.').next().unwrap_or_default();
        let read = |line: &'static str| Field::read(line, package).expect(WELL_FORMED);
        let (mut slots, mut always, mut left_out, mut texts) = (Vec::new(), 0, 0, 0);
        let mut singles = [0; 8];
        for field in entry.lines.lines().map(read) {
            let bit = 1 << field.number;
            match (field.omitted, field.shape) {
                (false, _) => always |= bit,
                (true, Shape::Value) => left_out |= bit,
                (true, _) => {}
            }
            if !matches!(field.shape, Shape::List | Shape::Map) {
                singles[usize::from(field.wire)] |= bit;
                texts |= u64::from(matches!(field.kind, Kind::Str)) << field.number;
            }
            slots.resize_with(field.number as usize, || None);
            slots.push(Some(field));
        }
        Self {
            slots: slots.into(),
            always,
            left_out,
            singles,
            texts,
        }
    }

    /// Returns the field with this number.
    #[inline]
    pub(crate) fn field(&self, number: u32) -> Option<&Field> {
        self.slots.get(number as usize)?.as_ref()
    }

    /// Whether the field of this bit has one value, and the wire type is that of the field.
    #[inline]
    pub(crate) fn is_single(&self, bit: u64, wire: u8) -> bool {
        self.singles[usize::from(wire & 7)] & bit != 0
    }

    /// A bit for the number of each field with one integer or bool.
    #[inline]
    pub(crate) fn integers(&self) -> u64 {
        self.singles[usize::from(crate::wire::VARINT)]
    }

    /// Returns the fields in order of their numbers.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &Field> {
        self.slots.iter().flatten()
    }
}

impl Field {
    /// Reads ` 2 spec .? .PodSpec`.
    fn read(line: &'static str, package: &str) -> Option<Self> {
        let mut words = line.trim_start().split(' ');
        let number = words.next()?.parse().ok()?;
        let name = words.next()?;
        let shape = words.next()?;
        let (shape, omitted) = match shape.strip_suffix('?') {
            Some(shape) => (shape, true),
            None => (shape, false),
        };
        let shape = match shape {
            "." => Shape::Value,
            "*" => Shape::Pointer,
            "[" => Shape::List,
            "{" => Shape::Map,
            ">" => Shape::Inline,
            _ => return None,
        };
        let kind = Kind::read(words.next()?, package)?;
        let wire = match shape {
            Shape::Map => crate::wire::BYTES,
            _ => kind.wire(),
        };
        Some(Self {
            name,
            number,
            shape,
            omitted,
            wire,
            kind,
        })
    }
}

impl Kind {
    fn read(word: &'static str, package: &str) -> Option<Self> {
        Some(match word {
            "bool" => Self::Bool,
            "i32" => Self::I32,
            "i64" => Self::I64,
            "f64" => Self::F64,
            "str" => Self::Str,
            "bytes" => Self::Bytes,
            "time" => Self::Time,
            "micro" => Self::MicroTime,
            "duration" => Self::Duration,
            "quantity" => Self::Quantity,
            "intstr" => Self::IntOrString,
            "json" => Self::Json,
            "names" => Self::Names,
            name => {
                let full = match name.starts_with('.') {
                    true => table().message(&[package, name].concat())?,
                    false => table().message(name)?,
                };
                match full.choice {
                    Some(choice) => Self::Choice(full, choice),
                    None => Self::Message(full),
                }
            }
        })
    }

    /// Returns the wire type of the kind.
    #[inline]
    pub(crate) fn wire(self) -> u8 {
        match self {
            Self::Bool | Self::I32 | Self::I64 => crate::wire::VARINT,
            Self::F64 => crate::wire::FIXED64,
            _ => crate::wire::BYTES,
        }
    }
}
