//! Damage that only protobuf can have.

use informer_kube_protobuf::{seal, to_frame};

use super::message::{bytes_field, first_field, tag, varint, with_metadata};
use crate::{EventKind, Object, Resource, wire::Form};

/// Damage to an answer in protobuf, for [`Fault::Protobuf`](crate::Fault::Protobuf).
///
/// "The object" is that of the first event that is not a bookmark, or the first item of a list.
/// Unless stated otherwise its metadata are intact and all lengths are right, so that a client can
/// tell which object is damaged, and can read everything behind it.
///
/// ```
/// use informer_testkit::{ApiServer, Damage, Fault, Match, Times};
///
/// let server = ApiServer::new();
/// // The first list that a client requests in protobuf has an item without a readable name.
/// server.fault(Match::list(), Fault::Protobuf(Damage::NameNotUtf8), Times::Once);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// Watch: the frame of the first event states this length. A list has no frames and stays as
    /// it is.
    FrameLength(u32),
    /// The body of the object in the event, or of the list, does not begin with `k8s\0`.
    Magic,
    /// The object ends within a varint.
    TruncatedVarint,
    /// An annotation of the object has a value that is not UTF-8.
    ValueNotUtf8,
    /// The name of the object is not UTF-8.
    // FM-52
    NameNotUtf8,
    /// The metadata have a managed field whose JSON is nested this deep.
    Nesting(usize),
    /// The metadata have two names; the second is the object's.
    NameTwice,
    /// The object has its metadata twice.
    MetadataTwice,
    /// The object has a field that no schema has. This is no damage: a client has to skip it.
    UnknownField,
    /// The object has a group, which Kubernetes does not use.
    Group,
}

/// A number that no schema has.
const UNKNOWN: u32 = 9_999;
const VARINT: u8 = 0;
const GROUP_START: u8 = 3;
const GROUP_END: u8 = 4;
/// The numbers of fields of `ObjectMeta`.
const NAME: u32 = 1;
const ANNOTATIONS: u32 = 12;
const MANAGED_FIELDS: u32 = 17;
/// The numbers of fields of `ManagedFieldsEntry`.
const FIELDS_TYPE: u32 = 6;
const FIELDS_V1: u32 = 7;

impl Damage {
    /// The message of an object with this damage.
    pub(super) fn message(self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::ValueNotUtf8 => with_metadata(message, |metadata| {
                let mut entry = Vec::new();
                bytes_field(&mut entry, 1, b"damaged");
                bytes_field(&mut entry, 2, b"\xff");
                bytes_field(metadata, ANNOTATIONS, &entry);
            }),
            Self::Nesting(depth) => with_metadata(message, |metadata| {
                bytes_field(metadata, MANAGED_FIELDS, &nested(depth));
            }),
            // Go writes the name first.
            Self::NameTwice => with_metadata(message, |metadata| {
                let mut first = Vec::new();
                bytes_field(&mut first, NAME, b"another");
                metadata.splice(..0, first);
            }),
            Self::NameNotUtf8 => with_metadata(message, |metadata| {
                if let Some((name, rest)) = first_field(metadata) {
                    let mut changed = Vec::new();
                    bytes_field(&mut changed, NAME, &[name, b"\xff"].concat());
                    changed.extend_from_slice(rest);
                    *metadata = changed;
                }
            }),
            _ => self.behind(message),
        }
    }

    /// Damage at the end of the message.
    fn behind(self, message: &[u8]) -> Vec<u8> {
        let mut out = message.to_vec();
        match self {
            Self::TruncatedVarint => {
                tag(&mut out, UNKNOWN, VARINT);
                out.push(0x80);
            }
            Self::MetadataTwice => {
                if let Some((metadata, _)) = first_field(message) {
                    bytes_field(&mut out, 1, metadata);
                }
            }
            Self::UnknownField => bytes_field(&mut out, UNKNOWN, b"from a newer server"),
            Self::Group => {
                tag(&mut out, UNKNOWN, GROUP_START);
                tag(&mut out, 1, VARINT);
                varint(&mut out, 1);
                tag(&mut out, UNKNOWN, GROUP_END);
            }
            _ => {}
        }
        out
    }
}

/// A managed field with JSON of this depth.
fn nested(depth: usize) -> Vec<u8> {
    let (open, close) = ("{\"f:a\":".repeat(depth), "}".repeat(depth));
    let (mut fields, mut entry) = (Vec::new(), Vec::new());
    bytes_field(&mut fields, 1, format!("{open}{{}}{close}").as_bytes());
    bytes_field(&mut entry, FIELDS_TYPE, b"FieldsV1");
    bytes_field(&mut entry, FIELDS_V1, &fields);
    entry
}

/// The frame of an event with this damage.
pub(crate) fn damaged_frame(
    damage: Damage,
    kind: EventKind,
    object: &Object,
    resource: &Resource,
    form: Form,
) -> Vec<u8> {
    let (api_version, type_name) = form.type_of(resource);
    let message = damage.message(&object.message(resource, form));
    let mut body = seal(&api_version, &type_name, &message);
    if damage == Damage::Magic {
        spoil_magic(&mut body);
    }
    let mut frame = to_frame(kind.as_str(), &body);
    if let Damage::FrameLength(length) = damage {
        frame[..4].copy_from_slice(&length.to_be_bytes());
    }
    frame
}

/// Changes the first bytes of a body.
pub(super) fn spoil_magic(body: &mut [u8]) {
    if let Some(first) = body.first_mut() {
        *first = b'K';
    }
}
