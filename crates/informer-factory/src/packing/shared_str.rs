//! Texts that objects decoded near each other share.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::fmt;
use std::hash::BuildHasher;
use std::ops::Deref;
use std::sync::Arc;

use foldhash::fast::FixedState;
use serde::Deserializer;
use serde::de::{Deserialize, Visitor};

/// The number of texts that a decoding thread remembers, to share them.
const REMEMBERED: usize = 512;
/// Longer texts are not remembered.
const LONGEST: usize = 1_024;

thread_local! {
    /// Texts decoded last on this thread, each at a place that its hash gives.
    static LAST: RefCell<Vec<Option<Arc<str>>>> = const { RefCell::new(Vec::new()) };
}

/// A read-only text that objects with the same text share if one thread decodes them soon after one
/// another.
///
/// Use it for fields of a view with few distinct values, such as the name of a node or the uid of
/// an owner. As a `Box<str>` each of them is an allocation of its own in every object.
///
/// ```
/// use informer_factory::SharedStr;
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Spec {
///     node_name: Option<SharedStr>,
/// }
///
/// let spec: Spec = serde_json::from_str(r#"{"nodeName": "node-1"}"#)?;
/// assert_eq!(spec.node_name.as_deref(), Some("node-1"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedStr(Arc<str>);

impl Deref for SharedStr {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for SharedStr {
    fn as_ref(&self) -> &str {
        self
    }
}

impl Borrow<str> for SharedStr {
    fn borrow(&self) -> &str {
        self
    }
}

impl From<&str> for SharedStr {
    fn from(text: &str) -> Self {
        Self(shared(text))
    }
}

impl From<SharedStr> for Arc<str> {
    fn from(text: SharedStr) -> Self {
        text.0
    }
}

impl fmt::Debug for SharedStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for SharedStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl<'de> Deserialize<'de> for SharedStr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(SharedVisitor)
    }
}

struct SharedVisitor;

impl Visitor<'_> for SharedVisitor {
    type Value = SharedStr;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<SharedStr, E> {
        Ok(text.into())
    }
}

/// The same text in an allocation that is in use already, if this thread remembers one.
pub(super) fn shared(text: &str) -> Arc<str> {
    if text.len() > LONGEST {
        return text.into();
    }
    // Colliding texts replace one another, so it does not matter who chooses them.
    let hash = FixedState::default().hash_one(text);
    let place = hash as usize % REMEMBERED;
    let remembered = LAST.try_with(|last| {
        let mut last = last.borrow_mut();
        last.resize(REMEMBERED, None);
        match &last[place] {
            Some(same) if **same == *text => Arc::clone(same),
            _ => {
                let new: Arc<str> = text.into();
                last[place] = Some(Arc::clone(&new));
                new
            }
        }
    });
    // A thread that is ending remembers nothing.
    remembered.unwrap_or_else(|_| text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_shared() {
        let text = |json: &str| serde_json::from_str::<SharedStr>(json).expect("a string");
        let (one, same, other) = (text("\"a\""), text("\"\\u0061\""), text("\"b\""));
        assert!(Arc::ptr_eq(&one.0, &same.0));
        assert_eq!((&*other, other.to_string()), ("b", "b".to_owned()));
        let long = "x".repeat(LONGEST + 1);
        let (one, same) = (SharedStr::from(&*long), SharedStr::from(&*long));
        assert_eq!(one, same);
        assert!(!Arc::ptr_eq(&one.0, &same.0));
        assert!(serde_json::from_str::<SharedStr>("1").is_err());
    }
}
