//! Cuts the body of a protobuf list into its items as it arrives.
//!
//! Pure, as [`super::cut`] is for JSON: it holds the items that were not taken yet and the frame,
//! which is the body without the items. Fields are cut by their lengths, which are checked before
//! anything is held. Bytes of unknown fields are not held.

// FM-10, SEC-17

use bytes::{Buf, Bytes};
use informer_kube_protobuf::Envelope;

use crate::list::{
    cut::{CutError, FRAME_LIMIT},
    items::Items,
};

const MAGIC: &[u8; 4] = b"k8s\0";

// Wire types.
const VARINT: u8 = 0;
const I64: u8 = 1;
const BYTES: u8 = 2;
const I32: u8 = 5;

// Fields of `runtime.Unknown`, which is around the list.
const TYPE_META: u32 = 1;
const RAW: u32 = 2;
// Fields of a list.
const METADATA: u32 = 1;
const ITEMS: u32 = 2;

/// Cuts a body that is pushed piece by piece.
#[derive(Debug)]
pub(crate) struct MessageCutter {
    /// The bytes of the magic that have arrived.
    magic: usize,
    header: Header,
    /// The field whose content is being read, and how many of its bytes are to come.
    part: Part,
    left: usize,
    /// The bytes of the list that are to come, within the list.
    list_left: Option<usize>,
    type_meta: Option<Vec<u8>>,
    metadata: Option<Vec<u8>>,
    /// A message that is not a list, whole.
    other: Option<Vec<u8>>,
    has_list: bool,
    head_is_taken: bool,
    cut: Items,
    item_limit: usize,
}

/// The field that a content belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    TypeMeta,
    Metadata,
    /// The list itself, which is no list of items.
    Other,
    Item,
    Skipped,
}

/// A field as its header announces it.
#[derive(Clone, Copy, Debug)]
struct Field {
    number: u32,
    wire: u8,
    /// The length of the bytes behind the header.
    length: usize,
}

/// The header of a field, byte by byte: its tag, and its length or value.
#[derive(Debug, Default)]
struct Header {
    tag: Varint,
    wire: Option<(u32, u8)>,
    value: Varint,
}

#[derive(Debug, Default)]
struct Varint {
    value: u64,
    bytes: u32,
}

impl Varint {
    /// Takes a byte; the value, if this was its last.
    fn push(&mut self, byte: u8) -> Result<Option<u64>, CutError> {
        let shift = 7 * self.bytes;
        // The tenth byte has one bit.
        if self.bytes == 10 || self.bytes == 9 && byte > 1 {
            return Err(CutError::Malformed);
        }
        self.value |= u64::from(byte & 0x7f) << shift;
        self.bytes += 1;
        Ok((byte < 0x80).then_some(self.value))
    }
}

impl Header {
    fn is_empty(&self) -> bool {
        self.wire.is_none() && self.tag.bytes == 0
    }

    /// Takes a byte; the field, if this was the last of its header.
    fn push(&mut self, byte: u8) -> Result<Option<Field>, CutError> {
        let Some((number, wire)) = self.wire else {
            let Some(tag) = self.tag.push(byte)? else {
                return Ok(None);
            };
            let number = u32::try_from(tag >> 3).map_err(|_| CutError::Malformed)?;
            let wire = (tag & 7) as u8;
            let length = match (number, wire) {
                (0, _) => return Err(CutError::Malformed),
                (_, VARINT | BYTES) => {
                    self.wire = Some((number, wire));
                    return Ok(None);
                }
                (_, I64) => 8,
                (_, I32) => 4,
                // Groups, which Kubernetes does not have, and what does not exist.
                _ => return Err(CutError::Malformed),
            };
            return Ok(Some(self.end(number, wire, length)));
        };
        let Some(value) = self.value.push(byte)? else {
            return Ok(None);
        };
        let length = match wire {
            VARINT => 0,
            _ => usize::try_from(value).map_err(|_| CutError::Malformed)?,
        };
        Ok(Some(self.end(number, wire, length)))
    }

    fn end(&mut self, number: u32, wire: u8, length: usize) -> Field {
        *self = Self::default();
        Field {
            number,
            wire,
            length,
        }
    }
}

impl MessageCutter {
    /// A cutter for items of up to `item_limit` bytes.
    pub(crate) fn new(item_limit: usize) -> Self {
        Self {
            magic: 0,
            header: Header::default(),
            part: Part::Skipped,
            left: 0,
            list_left: None,
            type_meta: None,
            metadata: None,
            other: None,
            has_list: false,
            head_is_taken: false,
            cut: Items::default(),
            item_limit,
        }
    }

    /// Takes the next piece of the body.
    pub(crate) fn push(&mut self, mut piece: Bytes) -> Result<(), CutError> {
        while !piece.is_empty() {
            match self.left {
                0 => self.push_header(piece.get_u8())?,
                left => self.push_content(piece.split_to(left.min(piece.len()))),
            }
            if self.list_left == Some(0) && self.left == 0 {
                if !self.header.is_empty() {
                    return Err(CutError::Malformed);
                }
                self.list_left = None;
            }
        }
        Ok(())
    }

    /// Whether a complete item was not taken.
    pub(crate) fn has_items(&self) -> bool {
        self.cut.has_complete()
    }

    /// Takes the complete items.
    pub(crate) fn take(&mut self) -> Vec<Bytes> {
        self.cut.take()
    }

    /// The frame before the items, as an empty list. Returned once, when the items begin.
    pub(crate) fn take_head(&mut self) -> Option<Vec<u8>> {
        let has_begun = self.part == Part::Item || self.has_items();
        if self.head_is_taken || !has_begun {
            return None;
        }
        self.head_is_taken = true;
        Some(self.frame())
    }

    /// The body without its items, after all of it was pushed. `None` if the body is not complete.
    pub(crate) fn into_frame(self) -> Option<Vec<u8>> {
        let is_complete =
            self.has_list && self.list_left.is_none() && self.left == 0 && self.header.is_empty();
        (is_complete || planted!(CutListIsComplete)).then(|| self.frame())
    }

    fn frame(&self) -> Vec<u8> {
        let mut list = self.other.clone().unwrap_or_default();
        if let Some(metadata) = &self.metadata {
            add_field(&mut list, METADATA, metadata);
        }
        let mut frame = MAGIC.to_vec();
        if let Some(type_meta) = &self.type_meta {
            add_field(&mut frame, TYPE_META, type_meta);
        }
        add_field(&mut frame, RAW, &list);
        frame
    }

    fn push_header(&mut self, byte: u8) -> Result<(), CutError> {
        if let Some(expected) = MAGIC.get(self.magic) {
            self.magic += 1;
            return (byte == *expected).then_some(()).ok_or(CutError::Malformed);
        }
        if let Some(left) = &mut self.list_left {
            *left -= 1;
        }
        let Some(field) = self.header.push(byte)? else {
            return Ok(());
        };
        match self.list_left {
            Some(left) if field.length > left => Err(CutError::Malformed),
            Some(_) => self.begin_in_list(field),
            None => self.begin(field),
        }
    }

    /// Begins a field of the body.
    fn begin(&mut self, field: Field) -> Result<(), CutError> {
        match (field.number, field.wire) {
            (TYPE_META, BYTES) if self.type_meta.is_none() => {
                self.type_meta = Some(frame_part(field)?);
                self.begin_part(Part::TypeMeta, field.length);
            }
            (RAW, BYTES) if !self.has_list => {
                self.has_list = true;
                if self.is_list() {
                    self.list_left = Some(field.length);
                } else {
                    self.other = Some(frame_part(field)?);
                    self.begin_part(Part::Other, field.length);
                }
            }
            (TYPE_META | RAW, _) => return Err(CutError::Malformed),
            _ => self.begin_part(Part::Skipped, field.length),
        }
        Ok(())
    }

    /// Begins a field of the list.
    fn begin_in_list(&mut self, field: Field) -> Result<(), CutError> {
        match (field.number, field.wire) {
            (METADATA, BYTES) if self.metadata.is_none() => {
                self.metadata = Some(frame_part(field)?);
                self.begin_part(Part::Metadata, field.length);
            }
            // An item without bytes has no name. Many of them would take memory and no bytes.
            (ITEMS, BYTES) if field.length == 0 => return Err(CutError::Malformed),
            (ITEMS, BYTES) if field.length > self.item_limit => {
                return Err(CutError::ItemTooLong);
            }
            (ITEMS, BYTES) => self.begin_part(Part::Item, field.length),
            (METADATA | ITEMS, _) => return Err(CutError::Malformed),
            _ => self.begin_part(Part::Skipped, field.length),
        }
        Ok(())
    }

    fn begin_part(&mut self, part: Part, length: usize) {
        self.part = part;
        self.left = length;
    }

    /// Takes bytes of one field, no more than are left of it.
    fn push_content(&mut self, bytes: Bytes) {
        self.left -= bytes.len();
        if let Some(left) = &mut self.list_left {
            *left -= bytes.len();
        }
        let held = match self.part {
            Part::TypeMeta => self.type_meta.as_mut(),
            Part::Metadata => self.metadata.as_mut(),
            Part::Other => self.other.as_mut(),
            Part::Item => {
                self.cut.extend(bytes);
                if self.left == 0 {
                    self.cut.end_item();
                }
                return;
            }
            Part::Skipped => None,
        };
        if let Some(held) = held {
            held.extend_from_slice(&bytes);
        }
    }

    /// Whether the message is a list, as far as its type has arrived. Every kind of list that is
    /// served as protobuf ends so.
    fn is_list(&self) -> bool {
        let head = self.frame();
        Envelope::parse(&head).is_ok_and(|head| head.kind.is_empty() || head.kind.ends_with("List"))
    }
}

/// An empty part of the frame, unless it would be too long. Nothing is reserved: few bytes may ever
/// arrive.
fn frame_part(field: Field) -> Result<Vec<u8>, CutError> {
    match field.length > FRAME_LIMIT {
        true => Err(CutError::FrameTooLong),
        false => Ok(Vec::new()),
    }
}

fn add_field(message: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    message.push((number << 3) as u8 | BYTES);
    let mut length = bytes.len();
    while length >= 0x80 {
        message.push(length as u8 | 0x80);
        length >>= 7;
    }
    message.push(length as u8);
    message.extend_from_slice(bytes);
}
