//! The words of the level `store` that stand for objects; both sides read and write the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use informer_factory::ObjectKey;
use informer_factory::store::{Entry, KeyError};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

/// What a word stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    /// `ns/name@version+data=x+label=y`: an object as the server sent it.
    Object(Box<ConfigMap>),
    /// `gone:ns/name` or `gone:ns/name@version`: it is gone and nobody saw it go; what is left is
    /// the last state seen, or the key alone.
    Gone(String, Option<Box<ConfigMap>>),
    /// `key:ns/name`: a key, and nothing more.
    Key(String),
    /// `keyless`: no key can be made for it.
    Keyless,
}

impl Word {
    /// Reads a word; `None` if it makes no sense.
    pub(super) fn read(text: &str) -> Option<Self> {
        if text == "keyless" {
            return Some(Self::Keyless);
        }
        if let Some(key) = text.strip_prefix("key:") {
            return Some(Self::Key(key.to_owned()));
        }
        if let Some(rest) = text.strip_prefix("gone:") {
            return match rest.split_once('@') {
                None => Some(Self::Gone(rest.to_owned(), None)),
                Some((key, _)) => {
                    let last = Some(Box::new(read_object(rest)?));
                    Some(Self::Gone(key.to_owned(), last))
                }
            };
        }
        read_object(text).map(|object| Self::Object(Box::new(object)))
    }

    /// The key of what it stands for.
    pub(super) fn key(&self) -> Result<ObjectKey, KeyError> {
        match self {
            Self::Object(object) => key_of(&object.metadata),
            Self::Gone(key, _) | Self::Key(key) => key.parse(),
            Self::Keyless => ObjectKey::new(None, ""),
        }
    }

    /// What a store holds for it.
    pub(super) fn entry(&self) -> Entry<ConfigMap> {
        match self {
            Self::Object(object) => {
                let version = version_of(object).unwrap_or_default().to_owned();
                Entry::new(ConfigMap::clone(object), "", version)
            }
            Self::Gone(key, _) | Self::Key(key) => Entry::anonymous(read_key(key, false)),
            Self::Keyless => Entry::anonymous(ConfigMap::default()),
        }
    }

    /// The version that was received with it.
    pub(super) fn version(&self) -> Option<&str> {
        match self {
            Self::Object(object) => version_of(object),
            Self::Gone(..) | Self::Key(_) | Self::Keyless => None,
        }
    }
}

fn key_of(meta: &ObjectMeta) -> Result<ObjectKey, KeyError> {
    let name = meta.name.as_deref().unwrap_or_default();
    ObjectKey::new(meta.namespace.as_deref(), name)
}

fn version_of(object: &ConfigMap) -> Option<&str> {
    object.metadata.resource_version.as_deref()
}

fn read_object(text: &str) -> Option<ConfigMap> {
    let (head, attributes) = text.split_once('+').unwrap_or((text, ""));
    let (key, version) = head.split_once('@')?;
    let of_cluster = attributes == "cluster";
    let mut object = read_key(key, of_cluster);
    object.metadata.resource_version = some(version);
    for attribute in attributes.split('+') {
        if !attribute.is_empty() && !of_cluster {
            attach(&mut object, attribute);
        }
    }
    Some(object)
}

fn read_key(key: &str, of_cluster: bool) -> ConfigMap {
    let (namespace, name) = match key.split_once('/') {
        Some(parts) if !of_cluster => parts,
        _ => ("", key),
    };
    ConfigMap {
        metadata: ObjectMeta {
            namespace: some(namespace),
            name: some(name),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn attach(object: &mut ConfigMap, attribute: &str) {
    let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
    match name {
        "data" => {
            object.data = Some(BTreeMap::from([("v".to_owned(), value.to_owned())]));
        }
        "owner" | "controller" => {
            let owners = object.metadata.owner_references.get_or_insert_default();
            owners.extend(value.split(',').map(|uid| OwnerReference {
                uid: uid.to_owned(),
                controller: Some(name == "controller"),
                ..OwnerReference::default()
            }));
        }
        _ => {
            let labels = object.metadata.labels.get_or_insert_default();
            labels.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// An object as the trace shows it: `ns/name@version`.
pub(super) fn word_of(object: &ConfigMap) -> String {
    let meta = &object.metadata;
    let name = meta.name.as_deref().unwrap_or_default();
    let version = version_of(object).unwrap_or_default();
    match &meta.namespace {
        Some(namespace) => format!("{namespace}/{name}@{version}"),
        None => format!("{name}@{version}"),
    }
}

/// The same with its data and its labels.
pub(super) fn full_word_of(object: &ConfigMap) -> String {
    let mut word = word_of(object);
    if let Some(data) = data_of(object) {
        word += &format!("+data={data}");
    }
    for (name, value) in object.metadata.labels.iter().flatten() {
        word += &format!("+{name}={value}");
    }
    word
}

/// What stands in its data.
pub(super) fn data_of(object: &ConfigMap) -> Option<&String> {
    object.data.as_ref()?.get("v")
}

/// The words of many, sorted: their order means nothing to client-go (IX-02).
pub(super) fn sorted_words(objects: &[Arc<ConfigMap>]) -> Vec<String> {
    let mut words: Vec<String> = objects.iter().map(|object| word_of(object)).collect();
    words.sort();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_written_alike() {
        for text in ["a/x@3", "x@", "a/@3", "a/x@3+data=d+l=1+m=2"] {
            let Some(Word::Object(object)) = Word::read(text) else {
                panic!("{text} is an object");
            };
            assert_eq!(full_word_of(&object), text);
        }
        assert_eq!(Word::read("a/x"), None);
        let gone = Word::read("gone:a/x@2").expect("a word");
        assert_eq!((gone.version(), gone.key().is_ok()), (None, true));
        assert!(Word::read("a/b@1+cluster").is_some_and(|word| word.key().is_err()));
        assert!(Word::Keyless.key().is_err());
    }
}
