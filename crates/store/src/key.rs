//! The name under which an object is stored: `namespace/name`, or `name` for cluster scope.
//!
//! One spelling per object, checked when the key is made, so that no two keys can mean the same
//! object and nothing nameless is ever stored. Knows nothing of metadata: callers hand over a
//! namespace and a name.
//!
//! - STX-6: a key has a non-empty name; no two keys alias. `tests/client_go.rs`, tests below.
//! - KY-04, FM-52: malformed text is refused with a typed error that tells what is wrong.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;

/// The key of one object: `namespace/name`, or `name` alone when it belongs to no namespace.
///
/// One allocation, shared by its clones. Equality, order and hash are those of the text, and
/// `Borrow<str>` lets a map keyed by it be asked with a `&str`.
///
/// client-go: KY-01, KY-04, KY-06.
#[doc(alias = "ObjectName")]
#[doc(alias = "MetaNamespaceKeyFunc")]
#[doc(alias = "SplitMetaNamespaceKey")]
#[derive(Clone)]
pub struct ObjectKey {
    text: Arc<str>,
    /// Length of the namespace, which is where the slash stands.
    namespace: Option<NonZeroUsize>,
}

/// Why a namespace and a name, or a text, are not a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The name is empty; such an object cannot be asked for again (FM-52).
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

thread_local! {
    /// Where parts are joined, so that a key costs one allocation and not two.
    static JOINED: RefCell<String> = const { RefCell::new(String::new()) };
}

impl ObjectKey {
    /// Makes a key from its parts.
    ///
    /// An empty namespace is as none at all: in object metadata the two mean the same (KY-01).
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
        if name.contains('/') {
            return Err(KeyError::SlashInName {
                name: name.to_owned(),
            });
        }
        if namespace.contains('/') {
            return Err(KeyError::SlashInNamespace {
                namespace: namespace.to_owned(),
            });
        }
        let Some(split) = NonZeroUsize::new(namespace.len()) else {
            return Ok(Self {
                text: Arc::from(name),
                namespace: None,
            });
        };
        let text = JOINED.with_borrow_mut(|joined| {
            joined.clear();
            joined.push_str(namespace);
            joined.push('/');
            joined.push_str(name);
            Arc::from(joined.as_str())
        });
        Ok(Self {
            text,
            namespace: Some(split),
        })
    }

    /// The key as text, in the only form it has.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The namespace, or `None` for an object of cluster scope.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.map(|split| &self.text[..split.get()])
    }

    /// The name within the namespace or the cluster; never empty.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.namespace {
            Some(split) => &self.text[split.get() + 1..],
            None => &self.text,
        }
    }

    /// Where the slash stands in a well-formed text.
    fn split(text: &str) -> Result<Option<NonZeroUsize>, KeyError> {
        let key = || text.to_owned();
        let Some(slash) = text.find('/') else {
            return if text.is_empty() {
                Err(KeyError::EmptyName { key: key() })
            } else {
                Ok(None)
            };
        };
        let name = &text[slash + 1..];
        if name.contains('/') {
            return Err(KeyError::TooManySlashes { key: key() });
        }
        if name.is_empty() {
            return Err(KeyError::EmptyName { key: key() });
        }
        match NonZeroUsize::new(slash) {
            Some(split) => Ok(Some(split)),
            None => Err(KeyError::EmptyNamespace { key: key() }),
        }
    }
}

impl FromStr for ObjectKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        Ok(Self {
            namespace: Self::split(text)?,
            text: Arc::from(text),
        })
    }
}

impl TryFrom<&str> for ObjectKey {
    type Error = KeyError;

    fn try_from(text: &str) -> Result<Self, KeyError> {
        text.parse()
    }
}

impl TryFrom<Arc<str>> for ObjectKey {
    type Error = KeyError;

    fn try_from(text: Arc<str>) -> Result<Self, KeyError> {
        Ok(Self {
            namespace: Self::split(&text)?,
            text,
        })
    }
}

impl PartialEq for ObjectKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.text, &other.text) || self.text == other.text
    }
}

impl Eq for ObjectKey {}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ObjectKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

// The hash of the text alone, as `Borrow<str>` demands.
impl Hash for ObjectKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Borrow<str> for ObjectKey {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl AsRef<str> for ObjectKey {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectKey({:?})", &*self.text)
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
            assert_eq!(ObjectKey::try_from(text), Err(error.clone()));
            assert_eq!(ObjectKey::try_from(Arc::<str>::from(text)), Err(error));
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
    fn empty_namespace_is_cluster_scope_ky_01() {
        assert_eq!(ObjectKey::new(Some(""), "n"), ObjectKey::new(None, "n"));
    }

    #[test]
    fn maps_answer_to_borrowed_text() {
        let key = ObjectKey::new(Some("a"), "b").expect("well formed");
        assert!(HashSet::from([key.clone()]).contains("a/b"));
        assert!(BTreeSet::from([key]).contains("a/b"));
    }
}
