//! The identity of an object, read from its metadata alone.

use crate::error::{Error, Result, Segment};
use crate::wire;

/// The four fields of the metadata that identify an object and its version.
///
/// They are bytes, because protobuf does not guarantee UTF-8: a caller can tell an object with a
/// damaged value from an object without a usable key. A field that is not there is empty. Of fields
/// that are there more than once, the last one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Identity<'a> {
    /// `metadata.namespace`.
    pub namespace: &'a [u8],
    /// `metadata.name`.
    pub name: &'a [u8],
    /// `metadata.uid`.
    pub uid: &'a [u8],
    /// `metadata.resourceVersion`.
    pub resource_version: &'a [u8],
    /// Whether the metadata or one of the four fields is there more than once.
    ///
    /// Decoders differ in which one counts, so such an object should not be trusted. A decode of
    /// the object is the error [`ErrorKind::Repeated`](crate::ErrorKind::Repeated).
    pub is_ambiguous: bool,
}

/// The bytes that are loaded ahead of the reading: the metadata of most objects, and all of most
/// small ones, which are decoded next.
const AHEAD: usize = 4_096;

impl<'a> Identity<'a> {
    /// Reads the identity from the message of an object of any kind.
    ///
    /// All other fields are skipped by their length. Damage behind the metadata ends the reading
    /// and is no error: the object has an identity, and a decode finds the damage.
    ///
    /// # Errors
    ///
    /// The metadata is damaged, or the bytes before it.
    ///
    /// ```
    /// use informer_kube_protobuf::Identity;
    ///
    /// let identity = Identity::read(b"\x0a\x0f\x0a\x05web-0\x1a\x06team-a")?;
    /// assert_eq!((identity.namespace, identity.name), (&b"team-a"[..], &b"web-0"[..]));
    /// # Ok::<(), informer_kube_protobuf::Error>(())
    /// ```
    pub fn read(object: &'a [u8]) -> Result<Self> {
        wire::fetch(object.get(..AHEAD).unwrap_or(object));
        Self::of_object(object).map_err(|error| error.in_input(object))
    }

    fn of_object(mut rest: &'a [u8]) -> Result<Self> {
        let (mut metadata, mut is_repeated) = (None, false);
        while !rest.is_empty() {
            match next_metadata(&mut rest) {
                Ok(Some(found)) => is_repeated |= metadata.replace(found).is_some(),
                Ok(None) => {}
                Err(_) if metadata.is_some() => break,
                Err(error) => return Err(error),
            }
        }
        let mut identity = Self::of_metadata(metadata.unwrap_or_default())
            .map_err(|error| error.within(Segment::Field("metadata")))?;
        identity.is_ambiguous |= is_repeated;
        Ok(identity)
    }

    fn of_metadata(mut rest: &'a [u8]) -> Result<Self> {
        let mut found: [Option<&[u8]>; 4] = [None; 4];
        let mut is_ambiguous = false;
        while !rest.is_empty() {
            let start = rest;
            let (number, wire) = wire::tag(&mut rest)?;
            let (slot, name) = match number {
                1 => (0, "name"),
                3 => (1, "namespace"),
                5 => (2, "uid"),
                6 => (3, "resourceVersion"),
                _ => {
                    wire::skip(&mut rest, wire)?;
                    continue;
                }
            };
            if wire != wire::BYTES {
                return Err(wrong_wire(name, wire, start));
            }
            is_ambiguous |= found[slot].replace(wire::bytes(&mut rest)?).is_some();
        }
        let [name, namespace, uid, version] = found.map(Option::unwrap_or_default);
        Ok(Self {
            namespace,
            name,
            uid,
            resource_version: version,
            is_ambiguous,
        })
    }
}

/// Reads one field of the object, and returns it if it is the metadata.
fn next_metadata<'a>(rest: &mut &'a [u8]) -> Result<Option<&'a [u8]>> {
    let start = *rest;
    match wire::tag(rest)? {
        (1, wire::BYTES) => wire::bytes(rest).map(Some),
        (1, found) => Err(wrong_wire("metadata", found, start)),
        (_, wire) => wire::skip(rest, wire).map(|()| None),
    }
}

#[cold]
fn wrong_wire(name: &'static str, found: u8, at: &[u8]) -> Error {
    Error::wire_type(wire::BYTES, found, at).within(Segment::Field(name))
}
