//! What a type does that stands for a text: it is made from it, equal to it and printed as it.

/// Implements conversion, comparison and printing by `From<&str>` and `with_text`.
macro_rules! is_its_text {
    ($type:ty) => {
        impl From<String> for $type {
            fn from(text: String) -> Self {
                text.as_str().into()
            }
        }

        impl PartialEq<str> for $type {
            fn eq(&self, other: &str) -> bool {
                self.with_text(|text| text == other)
            }
        }

        impl PartialEq<&str> for $type {
            fn eq(&self, other: &&str) -> bool {
                self == *other
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.with_text(|text| f.write_str(text))
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.with_text(|text| write!(f, "{text:?}"))
            }
        }
    };
}
