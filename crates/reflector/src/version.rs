//! Resource versions: opaque, equal or not, and sometimes comparable.
//!
//! The protocol promises an order only for decimal versions of one resource on one server
//! (KY-08), so there is no `Ord`; [`ResourceVersion::compare`] may answer "incomparable", and who
//! asks has to say what happens then (FM-41).

use std::{cmp::Ordering, fmt, sync::Arc};

/// A version of an object or of a collection, as the server wrote it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResourceVersion(Arc<str>);

impl ResourceVersion {
    /// Takes the server's text as it is; nothing is checked.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The empty version: on a list it asks for a consistent read, on an object it means unknown.
    pub fn unset() -> Self {
        Self(Arc::from(""))
    }

    /// The version `"0"`: whatever the server has at hand, however old.
    pub fn any() -> Self {
        Self(Arc::from("0"))
    }

    /// The text the server wrote.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same text, shared.
    pub fn to_shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }

    /// True for the empty version.
    pub fn is_unset(&self) -> bool {
        self.0.is_empty()
    }

    /// True unless the version is empty or `"0"`, neither of which names a point in history.
    pub fn is_exact(&self) -> bool {
        !self.is_unset() && &*self.0 != "0"
    }

    /// Orders two versions of one resource, or `None` where the protocol allows no order.
    ///
    /// Comparable are positive decimals of any length without a leading zero (KY-08).
    #[doc(alias = "CompareResourceVersion")]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        (is_decimal(&self.0) && is_decimal(&other.0)).then(|| {
            let by_length = self.0.len().cmp(&other.0.len());
            by_length.then_with(|| self.0.cmp(&other.0))
        })
    }

    /// True when both are comparable and this one is older. Incomparable is not older.
    pub fn is_older_than(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Less)
    }
}

/// No leading zero also excludes `"0"`, which is a request and not a point in history.
fn is_decimal(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl From<&str> for ResourceVersion {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for ResourceVersion {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl Default for ResourceVersion {
    fn default() -> Self {
        Self::unset()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// KY-08 and FM-41: length first, then text; anything odd is incomparable.
    #[test]
    fn decimals_compare_and_the_rest_does_not() {
        let compare = |a: &str, b: &str| ResourceVersion::from(a).compare(&b.into());
        assert_eq!(compare("9", "10"), Some(Ordering::Less));
        assert_eq!(compare("10", "10"), Some(Ordering::Equal));
        let long = "123456789012345678901234567890";
        assert_eq!(
            compare(long, "99999999999999999999"),
            Some(Ordering::Greater)
        );
        for odd in ["", "0", "007", "abc", "1a", "-1", " 1"] {
            assert_eq!(compare(odd, "1"), None, "{odd:?}");
            assert_eq!(compare("1", odd), None, "{odd:?}");
        }
    }
}
