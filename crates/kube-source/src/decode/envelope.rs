//! The type and identity of an object, read before it is decoded into the caller's type.
//!
//! The identity does not come from the decoded object. A projection or a transform may therefore
//! drop any field, and an object that does not decode still has a key.
//! All texts are borrowed from the bytes of the answer.

// FM-53, FM-54

use std::{borrow::Cow, fmt};

use informer_object::{Identity, ObjectKey, ResourceVersion};
use informer_reflector::Failure;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::de::Read;

use crate::decode::{json_text::protocol, shape::TypeNames};

/// Text borrowed from the wire where it holds no escapes. `null` reads as empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl Text<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Text)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }
}

/// The identity in an object's `metadata`.
#[derive(Debug, Default)]
pub(crate) struct WireMeta<'a> {
    pub(crate) namespace: Text<'a>,
    pub(crate) name: Text<'a>,
    pub(crate) uid: Text<'a>,
    pub(crate) resource_version: Text<'a>,
}

impl WireMeta<'_> {
    /// Whether all that makes an identity in a namespace was found.
    fn is_whole(&self) -> bool {
        let parts = [
            &self.resource_version,
            &self.uid,
            &self.namespace,
            &self.name,
        ];
        parts.iter().all(|part| !part.is_empty())
    }
}

/// Type and identity of an object, as far as they can be read.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    pub(crate) api_version: Text<'a>,
    pub(crate) kind: Text<'a>,
    /// `None` if there is none, or it cannot be read.
    pub(crate) meta: Option<WireMeta<'a>>,
}

impl<'a> Envelope<'a> {
    /// Reads until the four parts of an identity are known, and no further than the metadata.
    ///
    /// A type named after the metadata is not seen. Servers name it before: Go writes it first, and
    /// sorted keys put it there too. What is read is UTF-8; the rest of the bytes is not checked.
    pub(crate) fn of_list_item(json: &'a [u8]) -> Self {
        Self::read(serde_json::Deserializer::from_slice(json), false)
    }

    /// Reads until type and identity are known.
    pub(crate) fn of_event_object(json: &'a str) -> Self {
        Self::read(serde_json::Deserializer::from_str(json), true)
    }

    fn read<R: Read<'a>>(mut json: serde_json::Deserializer<R>, needs_type: bool) -> Self {
        let mut envelope = Self::default();
        let reader = EnvelopeReader {
            found: &mut envelope,
            needs_type,
        };
        // Stopping early leaves something unread, which is an error as cheap as any other; what
        // was found until then is all we want.
        let _stopped_early_or_unreadable = json.deserialize_map(reader).is_err();
        envelope
    }

    /// The identity, owned: nothing of the answer's buffer survives in it. `None` if the name or
    /// the namespace holds a slash, so that no key can be made of them; the object is left out.
    ///
    /// # Errors
    ///
    /// A failure of the protocol if the object has no name.
    // FM-61: no slice of the buffer is kept. FM-52: an empty name is no key.
    pub(crate) fn identity(&self) -> Result<Option<Identity>, Failure> {
        let named = self.meta.as_ref().filter(|meta| !meta.name.is_empty());
        let Some(meta) = named else {
            return Err(protocol("NamelessObject", "an object has no name"));
        };
        match ObjectKey::new(Some(meta.namespace.as_str()), meta.name.as_str()) {
            Ok(key) => {
                let (uid, version) = (meta.uid.as_str(), self.version());
                Ok(Some(Identity::new(key, uid, version)))
            }
            Err(error) => {
                tracing::warn!(
                    "an object is skipped, because its namespace and name make no key: {error}"
                );
                Ok(None)
            }
        }
    }

    /// The version of the object; unset if there is none.
    pub(crate) fn version(&self) -> ResourceVersion {
        let version = self.meta.as_ref().map(|meta| &meta.resource_version);
        version.map(version_of).unwrap_or_default()
    }

    /// The names of the type, empty where the server gave none.
    pub(crate) fn names(&self) -> TypeNames<'_> {
        TypeNames::new(self.api_version.as_str(), self.kind.as_str())
    }

    /// Whether the server named the type.
    pub(crate) fn is_typed(&self) -> bool {
        !self.kind.is_empty() && !self.api_version.is_empty()
    }
}

struct EnvelopeReader<'e, 'a> {
    found: &'e mut Envelope<'a>,
    needs_type: bool,
}

impl<'de> Visitor<'de> for EnvelopeReader<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match key.as_str() {
                "apiVersion" => self.found.api_version = map.next_value()?,
                "kind" => self.found.kind = map.next_value()?,
                "metadata" => map.next_value_seed(MetaReader {
                    may_stop: self.found.is_typed() || !self.needs_type,
                    found: &mut self.found.meta,
                })?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            let enough = self.found.is_typed() || !self.needs_type;
            if enough && self.found.meta.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }
}

struct MetaReader<'e, 'a> {
    found: &'e mut Option<WireMeta<'a>>,
    /// Whether nothing behind the metadata is wanted.
    may_stop: bool,
}

impl<'de> DeserializeSeed<'de> for MetaReader<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MetaReader<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut meta = WireMeta::default();
        while let Some(key) = map.next_key::<Text<'de>>()? {
            let part = match key.as_str() {
                "namespace" => &mut meta.namespace,
                "name" => &mut meta.name,
                "uid" => &mut meta.uid,
                "resourceVersion" => &mut meta.resource_version,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *part = map.next_value()?;
            if self.may_stop && meta.is_whole() {
                break;
            }
        }
        *self.found = Some(meta);
        Ok(())
    }
}

/// The version, if the server gave one.
pub(crate) fn version_of(text: &Text<'_>) -> ResourceVersion {
    ResourceVersion::from(text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Identity is found wherever it stands, escapes and nulls included.
    #[test]
    fn identity_is_read_in_any_order() {
        let json = r#"{"spec":{"a":[1]},"metadata":{"managedFields":[{}],"name":"n\u0061",
            "namespace":null,"uid":"u","resourceVersion":"7"},"kind":"K","apiVersion":"v1"}"#;
        let envelope = Envelope::of_event_object(json);
        assert!(envelope.is_typed());
        let identity = envelope.identity().expect("it has a name");
        let identity = identity.expect("the name is valid");
        assert_eq!(
            (identity.key.as_str(), identity.key.namespace()),
            ("na", None)
        );
        assert!(identity.uid == "u" && identity.version == "7");
        assert!(!Envelope::of_list_item(json.as_bytes()).is_typed());
    }

    /// FM-53: unreadable metadata is no metadata, whatever else there is.
    #[test]
    fn unreadable_metadata_is_none() {
        for json in [
            r#"{"kind":"K","metadata":{"name":5}}"#,
            r#"{"kind":"K","metadata":null}"#,
            r#"{"kind":"K"}"#,
            "5",
            "null",
            "",
            r#"{"metadata":{"name":"a""#,
        ] {
            let envelope = Envelope::of_list_item(json.as_bytes());
            assert!(envelope.meta.is_none(), "{json}");
        }
    }

    /// A hostile server repeats what it said, and takes it back in between.
    #[test]
    fn what_is_said_again_counts_last() {
        let json = r#"{"metadata":{"namespace":"a","name":"b","uid":"c","resourceVersion":"1",
            "name":"","name":"d"},"kind":"K","apiVersion":"v1"}"#;
        let meta = Envelope::of_event_object(json).meta.expect("metadata");
        assert_eq!(meta.name.as_str(), "d");
    }
}
