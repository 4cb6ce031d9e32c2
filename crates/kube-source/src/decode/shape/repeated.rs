//! Detects objects that contain a part of their identity twice.
//!
//! The envelope reader takes the first occurrence, the decoder the last, so the object would be
//! stored under an identity that differs from its own. No server writes such objects; they
//! are not decoded.

// RFX-2, FM-53

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::decode::envelope::Text;

const METADATA: &str = "metadata";
const PARTS: [&str; 4] = ["namespace", "name", "uid", "resourceVersion"];

/// Whether an object repeats its metadata, or a part of its identity.
pub(crate) fn is_repeated<'de, D: Deserializer<'de>>(object: D) -> Result<bool, D::Error> {
    Unique(&[METADATA]).deserialize(object)
}

/// Whether an object repeats one of these members, or the metadata among them a part of the
/// identity. A value that is not an object repeats nothing.
struct Unique(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Unique {
    type Value = bool;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    visited_as!(self => Ok(false));

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(false)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut met = [false; PARTS.len()];
        let mut is_repeated = false;
        // To the end, because a value on a tape must be read whole.
        while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
            let part = self.0.iter().position(|part| *part == key);
            is_repeated |= part.is_some_and(|part| std::mem::replace(&mut met[part], true));
            is_repeated |= match part.is_some() && key == METADATA {
                true => map.next_value_seed(Self(&PARTS))?,
                false => map.next_value::<IgnoredAny>().map(|_| false)?,
            };
        }
        Ok(is_repeated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::tape::Scratch;

    /// Both readers see it, wherever it stands and however it is written.
    #[test]
    fn what_is_repeated_is_found() {
        let judge = |json: &str| {
            let on_tape = Scratch::default().read(json, |mut tokens| is_repeated(&mut tokens));
            let in_text = is_repeated(&mut serde_json::Deserializer::from_str(json)).ok();
            assert_eq!(on_tape, in_text, "{json}");
            in_text.expect("JSON")
        };
        for good in [
            r#"{"metadata":{"name":"a","labels":{"name":"b","uid":"c"}},"spec":{"metadata":{}}}"#,
            r#"{"metadata":{"labels":{},"labels":{}},"spec":1,"spec":2}"#,
            r#"{"metadata":null}"#,
            "{}",
            "[]",
        ] {
            assert!(!judge(good), "{good}");
        }
        for bad in [
            r#"{"metadata":{"name":"a","uid":"u","uid":"v"}}"#,
            r#"{"metadata":{"name":"a","labels":{},"n\u0061me":"b"},"spec":{}}"#,
            r#"{"metadata":{"namespace":null,"namespace":"b"}}"#,
            r#"{"metadata":{"name":"a"},"spec":{},"metadata":{"name":"b"}}"#,
            r#"{"metadata":null,"metadata":{"name":"b"}}"#,
        ] {
            assert!(judge(bad), "{bad}");
        }
    }
}
