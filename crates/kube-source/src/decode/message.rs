//! Protobuf: the identity of an object, its schema, and decoding its message.
//!
//! As for JSON, the identity does not come from the decoded object, and an object that does not
//! decode still has a key.

// FM-52, FM-53, FM-54

use std::any::Any;

use informer_kube_protobuf::{self as protobuf, Deserializer, ErrorKind, Schema};
use informer_object::{Identity, ObjectKey};
use informer_reflector::{DecodeError, DecodeErrorCategory, Failure};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    Projection,
    decode::{
        json_text::{presentable, protocol},
        object::PARTIAL,
        partial::PartialObjectMetadata,
        shape::{TypeNames, projection::Node},
    },
};

/// The identity of an object in an answer, and whether it can be relied on.
pub(crate) struct Identified {
    pub(crate) identity: Identity,
    /// Set if the object is to be quarantined whatever else it contains.
    pub(crate) error: Option<DecodeError>,
}

/// Reads the identity of an object. `None` if the name or the namespace holds a slash, so that no
/// key can be made of them; the object is left out.
///
/// # Errors
///
/// A failure of the protocol if no name can be read.
pub(crate) fn identify(message: &[u8]) -> Result<Option<Identified>, Failure> {
    let found = protobuf::Identity::read(message).map_err(|error| not_protobuf(&error))?;
    let (Ok(namespace), Ok(name)) = (text(found.namespace), text(found.name)) else {
        return Err(protocol("Malformed", "the name of an object is not UTF-8"));
    };
    if name.is_empty() {
        return Err(protocol("NamelessObject", "an object has no name"));
    }
    let key = match ObjectKey::new(Some(namespace), name) {
        Ok(key) => key,
        Err(error) => {
            tracing::warn!(
                "an object is skipped, because its namespace and name make no key: {error}"
            );
            return Ok(None);
        }
    };
    let (uid, version) = (text(found.uid), text(found.resource_version));
    let path = match (found.is_ambiguous, &uid, &version) {
        (true, _, _) => Some("metadata"),
        (_, Err(_), _) => Some("metadata.uid"),
        (_, _, Err(_)) => Some("metadata.resourceVersion"),
        _ => None,
    };
    let data = |path: &str| DecodeError::new(DecodeErrorCategory::Data, path.to_owned(), 0, 0);
    Ok(Some(Identified {
        identity: Identity::new(key, uid.unwrap_or_default(), version.unwrap_or_default()),
        error: path.map(data),
    }))
}

fn text(bytes: &[u8]) -> Result<&str, std::str::Utf8Error> {
    std::str::from_utf8(bytes)
}

/// The schema of objects of this type, if there is one.
pub(crate) fn schema_of(names: TypeNames<'_>) -> Option<Schema> {
    Schema::of(names.api_version, names.kind)
}

/// The schema by which an object is decoded. Metadata is the first field of every kind, so an
/// object of a kind that is not built in is decoded as its metadata.
pub(crate) fn schema_or_metadata(names: Option<TypeNames<'_>>) -> Schema {
    let schema = names.and_then(schema_of).or_else(|| schema_of(PARTIAL));
    schema.expect("PartialObjectMetadata is built in")
}

/// Whether the decoded object is estimated to need more than `limit` bytes.
// SEC-18
pub(crate) fn exceeds_decoded(message: &[u8], names: Option<TypeNames<'_>>, limit: usize) -> bool {
    /// The largest factor between decoded size and message size: a `Container` of two bytes.
    const WORST_AMPLIFICATION: usize = 2048;
    message.len().saturating_mul(WORST_AMPLIFICATION) > limit
        && protobuf::decoded_bytes(schema_or_metadata(names), message, limit) > limit
}

/// Decodes a message without the fields of `projection`.
pub(crate) fn decode<T: DeserializeOwned + 'static>(
    schema: Schema,
    message: &[u8],
    names: Option<TypeNames<'_>>,
    projection: &Projection,
) -> Result<T, protobuf::Error> {
    let mut deserializer = Deserializer::new(schema, message);
    if !projection.is_empty() {
        deserializer = deserializer.without(projection.root());
    }
    if let Some(names) = names {
        deserializer = deserializer.named(names.api_version, names.kind);
    }
    let drops = |name| projection.root().child(name).is_some();
    let alone = match drops("apiVersion") || drops("kind") {
        true => None,
        false => metadata_alone(&deserializer, names),
    };
    alone.map_or_else(|| deserializer.decode(), Ok)
}

/// Decodes metadata without serde, which is much quicker. `None` for any other type, and for a
/// message in which anything is unusual.
fn metadata_alone<T: 'static>(
    deserializer: &Deserializer<'_>,
    names: Option<TypeNames<'_>>,
) -> Option<T> {
    let mut decoded: Option<T> = None;
    let slot = (&mut decoded as &mut dyn Any).downcast_mut::<Option<PartialObjectMetadata>>()?;
    let mut object = PartialObjectMetadata::new(deserializer.metadata()?.decode().ok()?);
    let (api_version, kind) = names.map_or(("", ""), |names| (names.api_version, names.kind));
    api_version.clone_into(&mut object.api_version);
    kind.clone_into(&mut object.kind);
    *slot = Some(object);
    decoded
}

impl protobuf::Dropped for Node {
    fn child(&self, name: &str) -> Option<&dyn protobuf::Dropped> {
        self.child(name)
            .map(|child| child as &dyn protobuf::Dropped)
    }

    fn is_dropped(&self) -> bool {
        self.is_dropped()
    }

    fn fields(&self) -> Option<&protobuf::DroppedFields> {
        Some(self.fields())
    }
}

/// The JSON of a message, with its type names and without the fields of `projection`.
pub(crate) fn to_json(
    message: &[u8],
    names: Option<TypeNames<'_>>,
    projection: &Projection,
) -> Result<String, protobuf::Error> {
    let schema = schema_or_metadata(names);
    let value: Value = decode(schema, message, names, projection)?;
    Ok(value.to_string())
}

/// The error of an object, with its path and the offset of the defect.
pub(crate) fn explain(error: &protobuf::Error) -> DecodeError {
    let category = match error.kind() {
        ErrorKind::TooDeep => DecodeErrorCategory::Depth,
        ErrorKind::Custom(_) | ErrorKind::JsonOnly(_) | ErrorKind::Repeated => {
            DecodeErrorCategory::Data
        }
        _ => DecodeErrorCategory::Syntax,
    };
    let path = presentable(&error.path());
    DecodeError::new(category, path, 0, error.offset().unwrap_or_default())
}

/// The failure of an answer or a frame that is damaged.
// SEC-7: texts of the object are not quoted.
pub(crate) fn not_protobuf(error: &protobuf::Error) -> Failure {
    let what = match error.kind() {
        ErrorKind::Magic => "is not protobuf of Kubernetes",
        ErrorKind::Truncated => "ends early",
        ErrorKind::Custom(_) => "has an unexpected shape",
        _ => "is not well-formed protobuf",
    };
    let offset = error.offset().unwrap_or_default();
    protocol("Malformed", format!("the answer {what} at byte {offset}"))
}
