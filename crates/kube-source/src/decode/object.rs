//! Decodes one object.
//!
//! An object that cannot be decoded becomes [`Body::Undecodable`] beside its identity, and the rest
//! of the page or stream continues (FM-53, FM-54). Errors contain a category, a path, a line and a
//! column, never content (SEC-7). The parser bounds the depth at 128 levels (FM-55, SEC-19), and
//! [`Limits`] bounds the size before and after decoding (FM-56, SEC-18).
//!
//! There are two parsers. The tape is the fast one; serde_json decides whenever the tape has no
//! result. The result does not depend on the parser used (`docs/adr/0007-json-parser.md`).

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
};

use informer_reflector::{Body, DecodeError, DecodeErrorCategory, Identity, Reuse};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::{
    KubeSource, Limits, Projection, Representation, Transform,
    decode::{
        envelope::{Envelope, Text},
        shape::{self, Shaped, TypeNames, repeated::is_repeated},
        tape::{Misfit, Scratch},
    },
};

const PARTIAL: TypeNames<'static> = TypeNames {
    api_version: "meta.k8s.io/v1",
    kind: "PartialObjectMetadata",
};

/// The settings that determine how an object is decoded.
pub(crate) struct ObjectDecoder<T> {
    api_version: String,
    kind: String,
    representation: Representation,
    transform: Option<Transform<T>>,
    projection: Projection,
    limits: Limits,
    detours: AtomicU8,
}

/// After this many consecutive objects that only serde_json decodes, the tape is skipped.
const MOST_DETOURS: u8 = 32;

impl<T> ObjectDecoder<T> {
    pub(crate) fn new(source: &KubeSource<T>) -> Self {
        Self {
            api_version: source.api_version.clone(),
            kind: source.kind.clone(),
            representation: source.representation,
            transform: source.transform.clone(),
            projection: source.projection.clone(),
            limits: source.limits,
            detours: AtomicU8::new(0),
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The type names that objects carry on the wire.
    fn names(&self) -> TypeNames<'_> {
        match self.representation {
            Representation::MetadataOnly => PARTIAL,
            Representation::Full => TypeNames {
                api_version: &self.api_version,
                kind: &self.kind,
            },
        }
    }

    /// Whether the type of an object is expected. An object without a type is accepted, and if
    /// metadata is requested, whole objects are accepted too.
    // FM-33
    pub(crate) fn expects(&self, envelope: &Envelope<'_>) -> bool {
        let fits = |names: TypeNames<'_>| {
            named_or_empty(&envelope.api_version, names.api_version)
                && named_or_empty(&envelope.kind, names.kind)
        };
        let whole = TypeNames {
            api_version: &self.api_version,
            kind: &self.kind,
        };
        fits(self.names()) || fits(whole)
    }

    /// Whether the type of a list is expected. Any kind is legal if the group is a domain, because
    /// a CRD chooses its `listKind`, except kinds known to be something else.
    pub(crate) fn expects_list(&self, api_version: &str, kind: &str) -> bool {
        let is_list_of = |names: TypeNames<'_>| {
            let usual = kind.strip_suffix("List") == Some(names.kind);
            usual && (api_version.is_empty() || api_version == names.api_version)
        };
        let whole = TypeNames {
            api_version: &self.api_version,
            kind: &self.kind,
        };
        let own_kind = api_version == self.api_version
            && api_version.contains('.')
            && !["", "Status", "Table", self.kind.as_str()].contains(&kind);
        is_list_of(self.names()) || is_list_of(whole) || own_kind
    }
}

fn named_or_empty(found: &Text<'_>, expected: &str) -> bool {
    found.is_empty() || found.as_str() == expected
}

impl<T: DeserializeOwned> ObjectDecoder<T> {
    /// Decodes and transforms an object. `is_typed` tells whether the object contains its type.
    pub(crate) fn decode(&self, json: &str, is_typed: bool, scratch: &mut Scratch) -> Body<T> {
        // Unwind safe: `scratch` is cleared before each object.
        let parsed = guarded(|| {
            self.check_size(json)
                .and_then(|()| self.parse(json, is_typed, scratch))
        });
        match parsed {
            Some(Ok(object)) => self.transformed(object),
            Some(Err(error)) => Body::Undecodable(error),
            None => Body::Undecodable(whole_object(DecodeErrorCategory::Panicked)),
        }
    }

    fn check_size(&self, json: &str) -> Result<(), DecodeError> {
        let too_large = json.len() > self.limits.object_bytes
            || exceeds_decoded(json.as_bytes(), self.limits.decoded_bytes);
        match too_large {
            true => Err(whole_object(DecodeErrorCategory::Size)),
            false => Ok(()),
        }
    }

    fn parse(&self, json: &str, is_typed: bool, scratch: &mut Scratch) -> Result<T, DecodeError> {
        let names = (!is_typed).then(|| self.names());
        let detours = self.detours.load(Ordering::Relaxed);
        if detours < MOST_DETOURS
            && let Some(object) = self.parse_tape(json, names, scratch)
        {
            if detours > 0 {
                self.detours.store(0, Ordering::Relaxed);
            }
            return Ok(object);
        }
        let object = self.parse_text(json, names)?;
        if detours < MOST_DETOURS {
            self.detours.store(detours + 1, Ordering::Relaxed);
        }
        Ok(object)
    }

    fn parse_tape(
        &self,
        json: &str,
        names: Option<TypeNames<'_>>,
        scratch: &mut Scratch,
    ) -> Option<T> {
        scratch.read(json, |tokens| match is_repeated(&mut { tokens })? {
            true => Err(Misfit),
            false => shape::decode(&mut { tokens }, &self.projection, names),
        })
    }

    fn parse_text(&self, json: &str, names: Option<TypeNames<'_>>) -> Result<T, DecodeError> {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let object = shape::decode(&mut deserializer, &self.projection, names)
            .and_then(|object| deserializer.end().map(|()| object))
            .map_err(|error| self.explain(json, names, &error))?;
        match is_repeated(&mut serde_json::Deserializer::from_str(json)) {
            Ok(true) => {
                let path = "metadata".to_owned();
                Err(DecodeError::new(DecodeErrorCategory::Data, path, 0, 0))
            }
            _ => Ok(object),
        }
    }

    /// Decodes once more to find the path of the error. Good objects do not pay for it.
    #[cold]
    fn explain(
        &self,
        json: &str,
        names: Option<TypeNames<'_>>,
        error: &serde_json::Error,
    ) -> DecodeError {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let shaped = Shaped::new(&mut deserializer, &self.projection, names);
        let path = match serde_path_to_error::deserialize::<_, T>(shaped) {
            Err(traced) => presentable(&traced.path().to_string()),
            Ok(_) => "?".to_owned(),
        };
        DecodeError::new(category_of(error), path, error.line(), error.column())
    }

    fn transformed(&self, object: T) -> Body<T> {
        let Some(transform) = &self.transform else {
            return Body::Decoded(Arc::new(object));
        };
        let transform = |object| match planted!(TransformsTwice) {
            true => transform(object).and_then(|object| transform(object)),
            false => transform(object),
        };
        match guarded(|| transform(object)) {
            Some(Ok(object)) => Body::Decoded(Arc::new(object)),
            Some(Err(_)) | None => Body::Undecodable(whole_object(DecodeErrorCategory::Transform)),
        }
    }
}

/// Runs user code for one object. If it panics, only this object is lost.
fn guarded<R>(f: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(f)).ok()
}

fn whole_object(category: DecodeErrorCategory) -> DecodeError {
    DecodeError::new(category, "?".to_owned(), 0, 0)
}

fn category_of(error: &serde_json::Error) -> DecodeErrorCategory {
    match error.classify() {
        Category::Data => DecodeErrorCategory::Data,
        // serde_json has no other way to distinguish it; a test checks the wording.
        _ if error.to_string().starts_with("recursion limit exceeded") => {
            DecodeErrorCategory::Depth
        }
        _ => DecodeErrorCategory::Syntax,
    }
}

/// Makes a path printable. Keys of maps come from the object, so a path may be long or contain
/// control characters.
fn presentable(path: &str) -> String {
    const LIMIT: usize = 256;
    let safe = |c: char| if c.is_control() { '?' } else { c };
    match path {
        "" | "." => "?".to_owned(),
        path => path.chars().take(LIMIT).map(safe).collect(),
    }
}

/// The largest known factor between decoded size and JSON size (SEC-18 measured 105), rounded up.
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
pub(crate) fn at_hand<T>(reuse: Option<&dyn Reuse<T>>, identity: &Identity) -> Option<Arc<T>> {
    let known = !identity.uid.is_unknown() && !identity.version.is_unset();
    reuse.filter(|_| known)?.reuse(identity)
}
