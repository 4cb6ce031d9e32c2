//! The key under which an object is stored: `namespace/name`, or `name` without a namespace.
//!
//! A key is checked when it is made. Two keys are equal exactly if their texts are, and no key has
//! an empty name.

// STX-6: a key has a non-empty name; no two keys alias. `store/tests/client_go.rs`, tests below.
// KY-04, FM-52: malformed text is refused with a typed error that says what is wrong.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use arrayvec::ArrayString;

/// The longest text that lies inline, in bytes: what a namespace and a name made by a controller
/// usually need, and short enough that a stored record fits into two cache lines.
const INLINE: usize = 48;

/// The key of one object: a text, with an optional namespace that partitions the store.
///
/// [`ObjectKey::new`] and parsing accept what Kubernetes accepts. [`ObjectKey::from_text`] accepts
/// any text, for stores of something else: a path or a number is a key too.
///
/// A key of up to 48 bytes lies inline; a longer text is one allocation, shared by its clones.
/// Equality, order and hash are those of the text, and `Borrow<str>` allows lookups with a `&str`.
///
/// ```
/// use informer_object::ObjectKey;
///
/// let pod = ObjectKey::new(Some("default"), "nginx")?;
/// assert_eq!((pod.as_str(), pod.namespace()), ("default/nginx", Some("default")));
///
/// let path = ObjectKey::from_text("/etc/hosts")?;
/// assert_eq!((path.namespace(), path.name()), (None, "/etc/hosts"));
/// # Ok::<(), informer_object::KeyError>(())
/// ```
#[doc(alias = "ObjectName")]
#[doc(alias = "ObjectRef")]
#[doc(alias = "MetaNamespaceKeyFunc")]
#[doc(alias = "SplitMetaNamespaceKey")]
#[derive(Clone)]
pub struct ObjectKey {
    text: Text,
}

/// A text and the length of its namespace, which is where the slash stands; 0 without one.
#[derive(Clone)]
enum Text {
    Short {
        text: ArrayString<INLINE>,
        split: u8,
    },
    Long {
        text: Arc<str>,
        split: usize,
    },
}

/// Why a namespace and a name, or a text, are not a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The name is empty; such an object could not be looked up.
    #[error("object key {key:?} has an empty name")]
    EmptyName {
        /// The text, or the namespace and a slash when the parts were given apart.
        key: String,
    },
    /// The text starts with a slash, which would be a second spelling of a cluster-scoped key.
    #[error("object key {key:?} has an empty namespace: write the name alone for cluster scope")]
    EmptyNamespace {
        /// The text.
        key: String,
    },
    /// The text has more than one slash.
    #[error("unexpected object key format {key:?}: at most one slash may stand in it")]
    TooManySlashes {
        /// The text.
        key: String,
    },
    /// The name, given apart, has a slash in it.
    #[error("object name {name:?} has a slash in it")]
    SlashInName {
        /// The name.
        name: String,
    },
    /// The namespace, given apart, has a slash in it.
    #[error("namespace {namespace:?} has a slash in it")]
    SlashInNamespace {
        /// The namespace.
        namespace: String,
    },
}

impl Text {
    /// The parts, joined by a slash if there is a namespace.
    #[inline]
    fn join(namespace: &str, name: &str) -> Self {
        let (slash, split) = match namespace.len() {
            0 => ("", 0),
            split => ("/", split),
        };
        let mut text = ArrayString::new();
        let joined = [namespace, slash, name]
            .iter()
            .try_for_each(|part| text.try_push_str(part));
        match (joined, u8::try_from(split)) {
            (Ok(()), Ok(split)) => Self::Short { text, split },
            _ => Self::Long {
                text: [namespace, slash, name].concat().into(),
                split,
            },
        }
    }

    #[inline]
    fn split(&self) -> usize {
        match self {
            Self::Short { split, .. } => usize::from(*split),
            Self::Long { split, .. } => *split,
        }
    }
}

/// Whether a short text has a slash in it. A loop without an early end compares many bytes at a
/// time, and the general search costs more to set up than it saves.
fn has_slash(text: &str) -> bool {
    text.bytes()
        .fold(false, |found, byte| found | (byte == b'/'))
}

impl ObjectKey {
    /// The longest text that needs no allocation, in bytes.
    pub const INLINE: usize = INLINE;

    /// Makes a key from its parts.
    ///
    /// An empty namespace means none: object metadata makes no difference between the two.
    ///
    /// # Errors
    ///
    /// [`KeyError::EmptyName`], [`KeyError::SlashInName`], [`KeyError::SlashInNamespace`].
    pub fn new(namespace: Option<&str>, name: &str) -> Result<Self, KeyError> {
        let namespace = namespace.unwrap_or_default();
        if name.is_empty() {
            let key = if namespace.is_empty() {
                String::new()
            } else {
                format!("{namespace}/")
            };
            return Err(KeyError::EmptyName { key });
        }
        if has_slash(name) {
            return Err(KeyError::SlashInName {
                name: name.to_owned(),
            });
        }
        if has_slash(namespace) {
            return Err(KeyError::SlashInNamespace {
                namespace: namespace.to_owned(),
            });
        }
        Ok(Self {
            text: Text::join(namespace, name),
        })
    }

    /// Makes a key from any text that is not empty.
    ///
    /// The part before the first slash is the namespace, if there is a slash with text on both of
    /// its sides. Otherwise the whole text is the name. The name may hold further slashes.
    ///
    /// # Errors
    ///
    /// [`KeyError::EmptyName`] for an empty text, and for a text whose only slash is its last
    /// character.
    pub fn from_text(text: &str) -> Result<Self, KeyError> {
        let (namespace, name) = match text.split_once('/') {
            Some((namespace, name)) if !namespace.is_empty() => (namespace, name),
            _ => ("", text),
        };
        if name.is_empty() {
            return Err(KeyError::EmptyName { key: text.into() });
        }
        Ok(Self {
            text: Text::join(namespace, name),
        })
    }

    /// Makes the key of an object of Kubernetes from its metadata. Needs the feature `kube`.
    ///
    /// # Errors
    ///
    /// [`KeyError`] for an object without a valid name.
    #[cfg(feature = "kube")]
    #[doc(alias = "MetaNamespaceKeyFunc")]
    pub fn of<K: kube_core::Resource>(object: &K) -> Result<Self, KeyError> {
        let meta = object.meta();
        Self::new(
            meta.namespace.as_deref(),
            meta.name.as_deref().unwrap_or_default(),
        )
    }

    /// The key as text.
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.text {
            Text::Short { text, .. } => text,
            Text::Long { text, .. } => text,
        }
    }

    /// The namespace, or `None` for an object of cluster scope.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        match self.text.split() {
            0 => None,
            split => Some(&self.as_str()[..split]),
        }
    }

    /// The name within the namespace or the cluster; never empty.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.text.split() {
            0 => self.as_str(),
            split => &self.as_str()[split + 1..],
        }
    }

    /// The namespace, or "", and the name of a well-formed text.
    fn parts(text: &str) -> Result<(&str, &str), KeyError> {
        let key = || text.to_owned();
        let Some(slash) = text.find('/') else {
            return if text.is_empty() {
                Err(KeyError::EmptyName { key: key() })
            } else {
                Ok(("", text))
            };
        };
        let name = &text[slash + 1..];
        if has_slash(name) {
            return Err(KeyError::TooManySlashes { key: key() });
        }
        if name.is_empty() {
            return Err(KeyError::EmptyName { key: key() });
        }
        match slash {
            0 => Err(KeyError::EmptyNamespace { key: key() }),
            _ => Ok((&text[..slash], name)),
        }
    }
}

impl FromStr for ObjectKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (namespace, name) = Self::parts(text)?;
        Ok(Self {
            text: Text::join(namespace, name),
        })
    }
}

impl TryFrom<&str> for ObjectKey {
    type Error = KeyError;

    fn try_from(text: &str) -> Result<Self, KeyError> {
        text.parse()
    }
}

impl PartialEq for ObjectKey {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for ObjectKey {}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ObjectKey {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

// The hash of the text alone, as `Borrow<str>` demands.
impl Hash for ObjectKey {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Borrow<str> for ObjectKey {
    #[inline]
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for ObjectKey {
    #[inline]
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectKey({:?})", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeSet, HashSet};

    #[test]
    fn parts_and_text_agree_ky_04() {
        for (text, namespace, name) in [
            ("a/b", Some("a"), "b"),
            ("b", None, "b"),
            ("kube-system/x.y", Some("kube-system"), "x.y"),
        ] {
            let key: ObjectKey = text.parse().expect("well formed");
            assert_eq!(
                (key.as_str(), key.namespace(), key.name()),
                (text, namespace, name)
            );
            assert_eq!(ObjectKey::new(namespace, name).as_ref(), Ok(&key));
            assert_eq!(key.to_string(), text);
        }
    }

    #[test]
    fn malformed_keys_are_refused_ky_04_fm_52() {
        let key = |key: &str| key.to_owned();
        let table = [
            ("", KeyError::EmptyName { key: key("") }),
            ("a/", KeyError::EmptyName { key: key("a/") }),
            ("/", KeyError::EmptyName { key: key("/") }),
            ("/b", KeyError::EmptyNamespace { key: key("/b") }),
            ("a/b/c", KeyError::TooManySlashes { key: key("a/b/c") }),
            ("a/b/", KeyError::TooManySlashes { key: key("a/b/") }),
            ("//b", KeyError::TooManySlashes { key: key("//b") }),
        ];
        for (text, error) in table {
            assert_eq!(ObjectKey::from_str(text), Err(error.clone()));
            assert_eq!(ObjectKey::try_from(text), Err(error));
        }
    }

    #[test]
    fn malformed_parts_are_refused_fm_52() {
        assert_eq!(
            ObjectKey::new(None, ""),
            Err(KeyError::EmptyName { key: String::new() })
        );
        assert_eq!(
            ObjectKey::new(Some("a"), ""),
            Err(KeyError::EmptyName { key: "a/".into() })
        );
        assert_eq!(
            ObjectKey::new(Some("a"), "b/c"),
            Err(KeyError::SlashInName { name: "b/c".into() })
        );
        assert_eq!(
            ObjectKey::new(Some("a/b"), "c"),
            Err(KeyError::SlashInNamespace {
                namespace: "a/b".into()
            })
        );
    }

    #[test]
    fn any_text_is_a_key_and_its_first_slash_ends_the_namespace() {
        for (text, namespace, name) in [
            ("/var/lib/x", None, "/var/lib/x"),
            ("var/lib/x", Some("var"), "lib/x"),
            ("42", None, "42"),
            ("a/b", Some("a"), "b"),
            ("/", None, "/"),
            ("a//", Some("a"), "/"),
        ] {
            let key = ObjectKey::from_text(text).expect("not empty");
            assert_eq!(
                (key.as_str(), key.namespace(), key.name()),
                (text, namespace, name)
            );
        }
        for empty in ["", "a/"] {
            let key = empty.to_owned();
            assert_eq!(
                ObjectKey::from_text(empty),
                Err(KeyError::EmptyName { key })
            );
        }
    }

    #[test]
    fn empty_namespace_is_cluster_scope_ky_01() {
        assert_eq!(ObjectKey::new(Some(""), "n"), ObjectKey::new(None, "n"));
    }

    #[cfg(feature = "kube")]
    #[test]
    fn metadata_gives_the_key_ky_01() {
        let resource =
            kube_core::ApiResource::from_gvk(&kube_core::GroupVersionKind::gvk("", "v1", "Pod"));
        let object = |name| kube_core::DynamicObject::new(name, &resource);
        let key = ObjectKey::of(&object("a").within("ns"));
        assert_eq!(key, ObjectKey::new(Some("ns"), "a"));
        assert_eq!(ObjectKey::of(&object("a")), ObjectKey::new(None, "a"));
        assert!(ObjectKey::of(&object("")).is_err(), "FM-52");
    }

    #[test]
    fn keys_of_any_length_are_alike() {
        for (namespace, name) in [(0, 1), (0, 48), (0, 49), (23, 24), (24, 24), (300, 253)] {
            let (namespace, name) = ("n".repeat(namespace), "x".repeat(name));
            let key = ObjectKey::new(Some(&namespace), &name).expect("well formed");
            assert_eq!(key.namespace().unwrap_or_default(), namespace);
            assert_eq!(key.name(), name);
            assert_eq!(key.as_str().parse().as_ref(), Ok(&key));
            let set = HashSet::from([key.clone()]);
            assert_eq!(
                (set.get(key.as_str()), key.clone() < key),
                (Some(&key), false)
            );
        }
    }

    #[test]
    fn maps_answer_to_borrowed_text() {
        let key = ObjectKey::new(Some("a"), "b").expect("well formed");
        assert!(HashSet::from([key.clone()]).contains("a/b"));
        assert!(BTreeSet::from([key]).contains("a/b"));
    }
}
