//! The uid of an object: sixteen bytes where it is a UUID, else text.

use std::sync::Arc;

use uuid::Uuid;

/// The uid of an object, which distinguishes incarnations of one key.
///
/// API servers use UUIDs, which lie inline; any other text is kept as it is, in one allocation that
/// clones share. Two uids are equal if their texts are.
///
/// ```
/// use informer_object::Uid;
///
/// let uid = Uid::from("0b2c1f4e-3d67-4f0a-9d53-7f1f0a6f2f11");
/// assert_eq!(uid.to_string(), "0b2c1f4e-3d67-4f0a-9d53-7f1f0a6f2f11");
/// assert!(!uid.is_unknown());
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Uid(Repr);

#[derive(Clone, PartialEq, Eq, Hash, Default)]
enum Repr {
    #[default]
    Unknown,
    /// A UUID whose text is the usual one: hyphens, lower case.
    Uuid(Uuid),
    /// Any other text, behind a thin pointer.
    Text(Arc<Box<str>>),
}

impl Uid {
    /// The uid of an object that has none.
    #[must_use]
    #[inline]
    pub const fn unknown() -> Self {
        Self(Repr::Unknown)
    }

    /// Whether the object has no uid.
    #[must_use]
    #[inline]
    pub const fn is_unknown(&self) -> bool {
        matches!(self.0, Repr::Unknown)
    }

    /// Calls `f` with the text of the uid; "" if it is unknown.
    fn with_text<R>(&self, f: impl FnOnce(&str) -> R) -> R {
        match &self.0 {
            Repr::Unknown => f(""),
            Repr::Uuid(uuid) => f(uuid.hyphenated().encode_lower(&mut [0; 36])),
            Repr::Text(text) => f(text),
        }
    }
}

impl From<&str> for Uid {
    #[inline]
    fn from(text: &str) -> Self {
        // `try_parse` also accepts braces, upper case and a text without hyphens.
        let is_usual = |uuid: &Uuid| uuid.hyphenated().encode_lower(&mut [0; 36]) == text;
        Self(match text {
            "" => Repr::Unknown,
            text => match Uuid::try_parse(text).ok().filter(is_usual) {
                Some(uuid) => Repr::Uuid(uuid),
                None => Repr::Text(Arc::new(text.into())),
            },
        })
    }
}

is_its_text!(Uid);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const USUAL: &str = "0b2c1f4e-3d67-4f0a-9d53-7f1f0a6f2f11";

    #[test]
    fn only_the_usual_text_of_a_uuid_is_packed() {
        assert!(matches!(Uid::from(USUAL).0, Repr::Uuid(_)));
        let others = [
            USUAL.to_uppercase(),
            USUAL.replace('-', ""),
            format!("{{{USUAL}}}"),
            format!("urn:uuid:{USUAL}"),
            "uid-7".to_owned(),
        ];
        for other in others {
            assert!(matches!(Uid::from(&*other).0, Repr::Text(_)), "{other}");
            assert_ne!(Uid::from(&*other), Uid::from(USUAL));
        }
        assert!(Uid::from("").is_unknown());
        assert_eq!(size_of::<Uid>(), 24);
    }

    proptest! {
        #[test]
        fn a_uid_is_its_text(
            a in "([0-9a-fA-F-]{0,40}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})",
            b in "[a-z0-9-]{0,40}",
        ) {
            let uid = Uid::from(&*a);
            prop_assert_eq!(uid.to_string(), &*a);
            prop_assert_eq!(format!("{uid:?}"), format!("{a:?}"));
            prop_assert!(uid == *a);
            let other = Uid::from(&*b);
            prop_assert_eq!(uid == other, a == b);
            prop_assert_eq!(uid.is_unknown(), a.is_empty());
        }
    }
}
