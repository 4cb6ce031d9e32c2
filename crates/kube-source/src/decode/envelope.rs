//! The type and identity of an object, read before it is decoded into the caller's type.
//!
//! The identity does not come from the decoded object. A projection or a transform may therefore
//! drop any field (design 6.6), and an object that does not decode still has a key (FM-53, FM-54).
//! All texts are borrowed from the bytes of the answer.

use std::{borrow::Cow, fmt, sync::Arc};

use informer_reflector::{ObjectMeta, ResourceVersion};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};

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

    /// The same, owned; nothing of the answer's buffer survives in it (FM-61).
    pub(crate) fn to_owned_meta(&self, namespaces: &mut LastNamespace) -> ObjectMeta {
        ObjectMeta {
            namespace: namespaces.share(self.namespace.as_str()),
            name: self.name.as_str().into(),
            uid: self.uid.as_str().into(),
            version: self.resource_version.as_str().into(),
        }
    }
}

/// Lists come sorted by namespace, so remembering one saves nearly all copies of it.
#[derive(Debug, Default)]
pub(crate) struct LastNamespace(Option<Arc<str>>);

impl LastNamespace {
    fn share(&mut self, namespace: &str) -> Option<Arc<str>> {
        if namespace.is_empty() {
            return None;
        }
        if self.0.as_deref() != Some(namespace) {
            self.0 = Some(namespace.into());
        }
        self.0.clone()
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
    /// sorted keys put it there too.
    pub(crate) fn of_list_item(json: &'a str) -> Self {
        Self::read(json, false)
    }

    /// Reads until type and identity are known.
    pub(crate) fn of_event_object(json: &'a str) -> Self {
        Self::read(json, true)
    }

    fn read(json: &'a str, needs_type: bool) -> Self {
        let mut envelope = Self::default();
        let reader = EnvelopeReader {
            found: &mut envelope,
            needs_type,
        };
        let mut deserializer = serde_json::Deserializer::from_str(json);
        // Stopping early leaves something unread, which is an error as cheap as any other; what
        // was found until then is all we want.
        let _stopped_early_or_unreadable = reader.deserialize(&mut deserializer).is_err();
        envelope
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

impl<'de> DeserializeSeed<'de> for EnvelopeReader<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
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

    /// Design 6.6: identity is found wherever it stands, escapes and nulls included.
    #[test]
    fn identity_is_read_in_any_order() {
        let json = r#"{"spec":{"a":[1]},"metadata":{"managedFields":[{}],"name":"n\u0061",
            "namespace":null,"uid":"u","resourceVersion":"7"},"kind":"K","apiVersion":"v1"}"#;
        let envelope = Envelope::of_event_object(json);
        assert!(envelope.is_typed());
        let meta = envelope.meta.expect("there is metadata");
        let meta = meta.to_owned_meta(&mut LastNamespace::default());
        assert_eq!((&*meta.name, &*meta.uid, meta.namespace), ("na", "u", None));
        assert_eq!(meta.version, "7".into());
        assert!(!Envelope::of_list_item(json).is_typed());
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
            assert!(Envelope::of_list_item(json).meta.is_none(), "{json}");
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

    /// Neighbours in one namespace share its name.
    #[test]
    fn a_namespace_is_copied_once() {
        let mut last = LastNamespace::default();
        let (one, two) = (last.share("a"), last.share("a"));
        assert!(Arc::ptr_eq(&one.expect("some"), &two.expect("some")));
        assert_eq!(last.share(""), None);
    }
}
