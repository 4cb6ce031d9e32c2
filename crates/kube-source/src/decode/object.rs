//! Decodes one object.
//!
//! An object that cannot be decoded becomes [`Body::Undecodable`] beside its identity, and the rest
//! of the page or stream continues. Errors contain a category, a path, a line and a
//! column, never content. [`crate::Limits`] bounds the size before and after decoding.
//! The decoder is the caller's: see [`crate::Decode`].

// FM-53, FM-54, SEC-7, FM-56, SEC-18

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use informer_object::Identity;
use informer_reflector::{Body, DecodeError, DecodeErrorCategory, Failure, Item, Reuse};

use crate::{
    KubeSource, Limits, Representation,
    decode::{
        decoder::{Buffers, Encoded, Wire},
        json_text::protocol,
        message::{self, Identified},
        shape::TypeNames,
    },
};

/// So few items are finished in place: a thread costs more than packing them.
pub(crate) const FEW: usize = 64;

pub(crate) const PARTIAL: TypeNames<'static> = TypeNames {
    api_version: "meta.k8s.io/v1",
    kind: "PartialObjectMetadata",
};

impl<T: 'static> KubeSource<T> {
    /// The type names of whole objects.
    fn whole(&self) -> TypeNames<'_> {
        TypeNames {
            api_version: &self.api_version,
            kind: &self.kind,
        }
    }

    /// The type names that objects carry on the wire.
    pub(crate) fn names(&self) -> TypeNames<'_> {
        match self.representation {
            Representation::MetadataOnly => PARTIAL,
            Representation::Full => self.whole(),
        }
    }

    /// Whether the type of an object is expected. An object without a type is accepted, and if
    /// metadata is requested, whole objects are accepted too.
    // FM-33
    pub(crate) fn expects(&self, found: TypeNames<'_>) -> bool {
        let fits = |names: TypeNames<'_>| {
            named_or_empty(found.api_version, names.api_version)
                && named_or_empty(found.kind, names.kind)
        };
        fits(self.names()) || fits(self.whole())
    }

    /// Whether the type of a list is expected. Any kind is legal if the group is a domain, because
    /// a CRD chooses its `listKind`, except kinds known to be something else.
    pub(crate) fn expects_list(&self, api_version: &str, kind: &str) -> bool {
        let is_list_of = |names: TypeNames<'_>| {
            let usual = kind.strip_suffix("List") == Some(names.kind);
            usual && (api_version.is_empty() || api_version == names.api_version)
        };
        let own_kind = api_version == self.api_version
            && api_version.contains('.')
            && !["", "Status", "Table", self.kind.as_str()].contains(&kind);
        is_list_of(self.names()) || is_list_of(self.whole()) || own_kind
    }

    /// Decodes and transforms JSON. `is_typed` tells whether the object contains its type.
    pub(crate) fn decode(
        &self,
        json: &str,
        is_typed: bool,
        identity: &Identity,
        buffers: &mut Buffers,
    ) -> Body<T> {
        let object = Encoded {
            wire: Wire::Json(json),
            type_names: (!is_typed).then(|| self.names()),
            identity,
        };
        self.decode_encoded(object, buffers)
    }

    /// Reads an object in protobuf, of a list or of an event. `None` if no key can be made for it.
    ///
    /// # Errors
    ///
    /// A failure of the whole answer: no name can be read, or the type has to come as JSON.
    // FM-52, FM-53, FM-54
    pub(crate) fn message_item(
        &self,
        message: &[u8],
        names: TypeNames<'_>,
        reuse: Option<&dyn Reuse<T>>,
        buffers: &mut Buffers,
    ) -> Result<Option<Item<T>>, Failure> {
        let Some(Identified { identity, error }) = message::identify(message)? else {
            return Ok(None);
        };
        let body = if let Some(error) = error {
            Body::Undecodable(Box::new(error))
        } else if let Some(object) = cached(reuse, &identity) {
            Body::Reused(object)
        } else {
            self.decode_message(Encoded::protobuf(message, names, &identity), buffers)?
        };
        Ok(Some(Item::new(identity, body)))
    }

    /// Decodes and transforms a protobuf message.
    ///
    /// # Errors
    ///
    /// A failure of the whole answer, which has to come as JSON: the decoder cannot read protobuf
    /// of this type.
    fn decode_message(
        &self,
        object: Encoded<'_>,
        buffers: &mut Buffers,
    ) -> Result<Body<T>, Failure> {
        let is_whole = self.representation == Representation::Full;
        if is_whole && object.type_names.and_then(message::schema_of).is_none() {
            return Err(protocol("NoSchema", "the kind is not built in"));
        }
        let body = self.decode_encoded(object, buffers);
        match matches!(body, Body::Undecodable(_)) && !self.decoder.reads_protobuf() {
            true => Err(protocol(
                "JsonOnly",
                "the type can only be decoded from JSON",
            )),
            false => Ok(body),
        }
    }

    /// Decodes and transforms an object within the limits.
    fn decode_encoded(&self, object: Encoded<'_>, buffers: &mut Buffers) -> Body<T> {
        let Limits {
            object_bytes,
            decoded_bytes,
            ..
        } = self.limits;
        let is_too_large = match object.wire {
            Wire::Json(json) => {
                json.len() > object_bytes || exceeds_decoded(json.as_bytes(), decoded_bytes)
            }
            Wire::Protobuf(message) => {
                message.len() > object_bytes
                    || message::exceeds_decoded(message, object.type_names, decoded_bytes)
            }
        };
        if is_too_large {
            return undecodable(DecodeErrorCategory::Size);
        }
        // Unwind safe: a decoder that panicked gets new buffers.
        match guarded(|| self.decoder.decode(object, buffers)) {
            Some(Ok(object)) => self.transformed(object),
            Some(Err(error)) => Body::Undecodable(Box::new(error)),
            None => {
                *buffers = Buffers::default();
                undecodable(DecodeErrorCategory::Panicked)
            }
        }
    }

    /// Lets the decoder see items before they are handed on.
    pub(crate) fn finish<'a>(&self, items: impl Iterator<Item = &'a mut Item<T>>) {
        let mut items = items.map(|item| (&item.identity, &mut item.body));
        if guarded(|| self.decoder.finish(&mut items)).is_none() {
            tracing::error!(
                "the decoder panicked as it finished objects of {}",
                self.kind
            );
        }
    }

    fn transformed(&self, object: T) -> Body<T> {
        let Some(transform) = &self.transform else {
            return Body::Decoded(Arc::new(object));
        };
        let transform = |object| match planted!(TransformsTwice) {
            true => transform
                .apply(object)
                .and_then(|object| transform.apply(object)),
            false => transform.apply(object),
        };
        match guarded(|| transform(object)) {
            Some(Ok(object)) => Body::Decoded(Arc::new(object)),
            Some(Err(_)) | None => undecodable(DecodeErrorCategory::Transform),
        }
    }
}

fn named_or_empty(found: &str, expected: &str) -> bool {
    found.is_empty() || found == expected
}

/// Runs user code for one object. If it panics, only its result is lost.
pub(crate) fn guarded<R>(f: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(f)).ok()
}

fn undecodable<T>(category: DecodeErrorCategory) -> Body<T> {
    let error = DecodeError::new(category, "?".to_owned(), 0, 0);
    Body::Undecodable(Box::new(error))
}

/// The largest known factor between decoded size and JSON size (105 was measured), rounded up.
// SEC-18
const WORST_AMPLIFICATION: usize = 128;
/// The cost of an object that is decoded into a map with one entry.
const OBJECT_COST: usize = 700;
const ARRAY_COST: usize = 64;
const VALUE_COST: usize = 32;

/// Whether a decoded object is estimated to need more than `limit` bytes. Small objects are not
/// scanned.
fn exceeds_decoded(json: &[u8], limit: usize) -> bool {
    if json.len().saturating_mul(WORST_AMPLIFICATION) <= limit {
        return false;
    }
    let mut cost = json.len();
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        cost += match byte {
            b'{' => OBJECT_COST,
            b'[' => ARRAY_COST,
            b',' => VALUE_COST,
            b'"' => {
                skip_string(&mut bytes);
                0
            }
            _ => 0,
        };
        if cost > limit {
            return true;
        }
    }
    false
}

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

/// Returns the cached object of this identity, unless the identity is incomplete.
pub(crate) fn cached<T>(reuse: Option<&dyn Reuse<T>>, identity: &Identity) -> Option<Arc<T>> {
    let known = !identity.uid.is_unknown() && !identity.version.is_unset();
    reuse.filter(|_| known)?.reuse(identity)
}
