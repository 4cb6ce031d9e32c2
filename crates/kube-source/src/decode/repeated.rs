//! Detects objects that contain a part of their identity twice.
//!
//! The envelope reader takes the first occurrence, the decoder the last, so the object would be
//! stored under an identity that differs from its own (RFX-2). No server writes such objects; they
//! are not decoded (FM-53).

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use simd_json::Node as Token;

use crate::decode::{
    envelope::Text,
    tape::{Misfit, Tokens},
};

const METADATA: &str = "metadata";
const PARTS: [&str; 4] = ["namespace", "name", "uid", "resourceVersion"];

/// The parts of an identity that were read.
#[derive(Default)]
struct Met([bool; PARTS.len()]);

impl Met {
    /// Whether this key is a part of the identity and was read before.
    fn again(&mut self, key: &str) -> bool {
        let part = PARTS.iter().position(|part| *part == key);
        part.is_some_and(|part| std::mem::replace(&mut self.0[part], true))
    }
}

/// Whether an object on a tape repeats its metadata, or a part of its identity.
pub(crate) fn on_tape(mut tokens: Tokens<'_, '_>) -> Result<bool, Misfit> {
    let Token::Object { len, .. } = tokens.next()? else {
        return Ok(false);
    };
    let mut is_met = false;
    for _ in 0..len {
        if tokens.key()? == METADATA {
            if is_met || metadata_on_tape(tokens)? {
                return Ok(true);
            }
            is_met = true;
        }
        tokens.skip()?;
    }
    Ok(false)
}

fn metadata_on_tape(mut tokens: Tokens<'_, '_>) -> Result<bool, Misfit> {
    let Token::Object { len, .. } = tokens.next()? else {
        return Ok(false);
    };
    let mut met = Met::default();
    for _ in 0..len {
        if met.again(tokens.key()?) {
            return Ok(true);
        }
        tokens.skip()?;
    }
    Ok(false)
}

/// Whether a text repeats them. A text that is no object does not.
pub(crate) fn in_text(json: &str) -> bool {
    let Ok(object) = serde_json::from_str::<Pairs<'_>>(json) else {
        return false;
    };
    let mut all = object.0.iter().filter(|(key, _)| key.as_str() == METADATA);
    let Some((_, metadata)) = all.next() else {
        return false;
    };
    let mut met = Met::default();
    let metadata = serde_json::from_str::<Pairs<'_>>(metadata.get());
    let mut parts = metadata.iter().flat_map(|metadata| &metadata.0);
    all.next().is_some() || parts.any(|(key, _)| met.again(key.as_str()))
}

/// The keys and values of an object in order, including repeated ones.
struct Pairs<'a>(Vec<(Text<'a>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor).map(Self)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Vec<(Text<'de>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tape::Scratch, *};

    /// Both readers see it, wherever it stands and however it is written.
    #[test]
    fn what_is_repeated_is_found() {
        let judge = |json: &str| {
            let on_tape = Scratch::default().read(json, on_tape);
            assert_eq!(on_tape, Some(in_text(json)), "{json}");
            in_text(json)
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
