//! Resource versions: equal or not, and sometimes comparable.
//!
//! The protocol promises an order only for decimal versions of one resource on one server. There
//! is therefore no `Ord`: [`ResourceVersion::compare`] may return `None`.

// KY-08: which versions compare. FM-41: the caller decides what an incomparable version means.

use std::{cmp::Ordering, fmt, sync::Arc};

use arrayvec::ArrayString;

/// A version of an object or of a collection, as the server wrote it.
///
/// A decimal of up to 64 bits without a leading zero lies inline. Any other text is kept as it is,
/// in one allocation that clones share. Two versions are equal if their texts are.
///
/// ```
/// use informer_object::ResourceVersion;
///
/// let (held, received) = (ResourceVersion::from("9"), ResourceVersion::from(10_u64));
/// assert!(held.is_older_than(&received));
/// // Versions that are not decimals have no order.
/// assert_eq!(received.compare(&ResourceVersion::from("abc")), None);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct ResourceVersion(Repr);

#[derive(Clone, PartialEq, Eq, Hash, Default)]
enum Repr {
    #[default]
    Unset,
    /// A decimal without leading zeros, and "0" itself.
    Number(u64),
    /// Any other text, behind a thin pointer.
    Text(Arc<Box<str>>),
}

impl ResourceVersion {
    /// The empty version: on a list it requests a consistent read, on an object it means unknown.
    #[must_use]
    #[inline]
    pub const fn unset() -> Self {
        Self(Repr::Unset)
    }

    /// The version `"0"`: any state that the server has cached.
    #[must_use]
    #[inline]
    pub const fn any() -> Self {
        Self(Repr::Number(0))
    }

    /// True for the empty version.
    #[must_use]
    #[inline]
    pub const fn is_unset(&self) -> bool {
        matches!(self.0, Repr::Unset)
    }

    /// True unless the version is empty or `"0"`, neither of which is a point in history.
    #[must_use]
    #[inline]
    pub const fn is_exact(&self) -> bool {
        !matches!(self.0, Repr::Unset | Repr::Number(0))
    }

    /// The version as a number, if it is a decimal of up to 64 bits without a leading zero.
    #[must_use]
    #[inline]
    pub const fn as_number(&self) -> Option<u64> {
        match self.0 {
            Repr::Number(number) => Some(number),
            Repr::Unset | Repr::Text(_) => None,
        }
    }

    /// Orders two versions of one resource, or `None` where the protocol allows no order.
    ///
    /// Positive decimals of any length without a leading zero are comparable.
    #[doc(alias = "CompareResourceVersion")]
    #[must_use]
    #[inline]
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        if let (Repr::Number(one), Repr::Number(other)) = (&self.0, &other.0) {
            return (*one > 0 && *other > 0).then(|| one.cmp(other));
        }
        self.with_text(|one| {
            other.with_text(|other| {
                (is_decimal(one) && is_decimal(other))
                    .then(|| one.len().cmp(&other.len()).then_with(|| one.cmp(other)))
            })
        })
    }

    /// True when both are comparable and this one is older. An incomparable version is not older.
    #[must_use]
    #[inline]
    pub fn is_older_than(&self, other: &Self) -> bool {
        self.compare(other) == Some(Ordering::Less)
    }

    /// Calls `f` with the text of the version; "" if it is unset.
    fn with_text<R>(&self, f: impl FnOnce(&str) -> R) -> R {
        match &self.0 {
            Repr::Unset => f(""),
            Repr::Number(number) => f(&digits(*number)),
            Repr::Text(text) => f(text),
        }
    }
}

/// The most digits that a number of 64 bits has.
const LONGEST: usize = 20;

fn digits(number: u64) -> ArrayString<LONGEST> {
    let mut text = ArrayString::new();
    fmt::Write::write_fmt(&mut text, format_args!("{number}")).expect("64 bits have 20 digits");
    text
}

/// No leading zero also excludes `"0"`, which is a request and not a point in history.
fn is_decimal(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit())
}

impl From<u64> for ResourceVersion {
    fn from(number: u64) -> Self {
        Self(Repr::Number(number))
    }
}

impl From<&str> for ResourceVersion {
    #[inline]
    fn from(text: &str) -> Self {
        Self(match text {
            "" => Repr::Unset,
            "0" => Repr::Number(0),
            text => match text.parse() {
                // Only the text that the number is printed as.
                Ok(number) if !text.starts_with(['0', '+']) => Repr::Number(number),
                _ => Repr::Text(Arc::new(text.into())),
            },
        })
    }
}

is_its_text!(ResourceVersion);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        let most = u64::MAX.to_string();
        assert_eq!(compare(&most, "18446744073709551616"), Some(Ordering::Less));
        for odd in ["", "0", "007", "abc", "1a", "-1", "+1", " 1"] {
            assert_eq!(compare(odd, "1"), None, "{odd:?}");
            assert_eq!(compare("1", odd), None, "{odd:?}");
        }
    }

    #[test]
    fn a_version_is_two_words() {
        assert_eq!(size_of::<ResourceVersion>(), 16);
        assert_eq!(ResourceVersion::from("41").as_number(), Some(41));
        assert_eq!(ResourceVersion::any(), "0");
        assert!(!ResourceVersion::any().is_exact());
        assert!(ResourceVersion::from("").is_unset());
        assert!(ResourceVersion::from("00").is_exact());
    }

    proptest! {
        #[test]
        fn a_version_is_its_text(a in "([+-]?[0-9]{0,30}|[a-z0-9]{0,8})", b in "0?[0-9]{0,3}") {
            let version = ResourceVersion::from(&*a);
            prop_assert_eq!(version.to_string(), &*a);
            prop_assert_eq!(format!("{version:?}"), format!("{a:?}"));
            prop_assert!(version == *a);
            let other = ResourceVersion::from(&*b);
            prop_assert_eq!(version == other, a == b);
            prop_assert_eq!(version.is_unset(), a.is_empty());
        }
    }
}
