//! Reads a value to its end, as strictly as a type that takes any value does.
//!
//! `IgnoredAny` is not enough for text that is kept and decoded later: for it serde_json neither
//! bounds the depth nor looks into escapes and numbers.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::decode::envelope::Text;

/// A value that was read and found to be valid.
pub(crate) struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    visited_as!(self => Ok(self));

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<Text<'de>, Self>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_reader_would_accept_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let texts = [
            (r#"{"a":[1,-2,3.5,true,null,"\u00e9"]}"#.to_owned(), true),
            (r#"{"a":"\ud800"}"#.to_owned(), false),
            (r#"{"a":1e999}"#.to_owned(), false),
            (r#"{"\ud800":1}"#.to_owned(), false),
            (nested(127), true),
            (nested(128), false),
        ];
        for (text, is_valid) in texts {
            let checked = serde_json::from_str::<Checked>(&text).is_ok();
            let read = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            assert_eq!((checked, read), (is_valid, is_valid), "{text}");
        }
    }
}
