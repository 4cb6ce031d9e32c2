//! Labels in one allocation, which objects decoded near each other share.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Deserializer;
use serde::de::{Deserialize, MapAccess, Visitor};

use crate::object::HasLabels;
use crate::packing::shared_str::shared;

/// The labels of an object, read-only and small: 16 bytes and one allocation, which objects with
/// equal labels share if one thread decodes them soon after one another.
///
/// A `BTreeMap` of five labels takes 870 bytes. Use it for the field `labels` of a view:
///
/// ```
/// use informer_factory::Labels;
///
/// let labels: Labels = serde_json::from_str(r#"{"tier": "web", "app": "shop"}"#)?;
/// assert_eq!(labels.get("app"), Some("shop"));
/// assert_eq!(labels.iter().collect::<Vec<_>>(), [("app", "shop"), ("tier", "web")]);
/// assert!(serde_json::from_str::<Labels>("null")?.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Labels {
    /// The pairs in the order of their names. Each text follows its length in bytes.
    pairs: Option<Arc<str>>,
}

impl Labels {
    /// Returns the value of a label, or `None` if there is no such label.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(label, _)| *label == name)
            .map(|(_, value)| value)
    }

    /// Returns the names and values, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        pairs(self.pairs.as_deref().unwrap_or_default())
    }

    /// Returns the number of labels.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Returns true if there is no label.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_none()
    }
}

/// Of two pairs with one name the last one counts, as in a map.
impl<N: AsRef<str>, V: AsRef<str>> FromIterator<(N, V)> for Labels {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut text = PairsText::default();
        for (name, value) in pairs {
            text.push(name.as_ref(), value.as_ref());
        }
        text.into_labels()
    }
}

/// The text of pairs as they come, which is the order of their names if a server wrote them.
struct PairsText {
    text: String,
    /// The range of the last name in `text`.
    last: Range<usize>,
    is_ordered: bool,
}

impl Default for PairsText {
    fn default() -> Self {
        Self {
            // Enough for the labels of most objects.
            text: String::with_capacity(256),
            last: 0..0,
            is_ordered: true,
        }
    }
}

impl PairsText {
    fn push(&mut self, name: &str, value: &str) {
        let is_first = self.text.is_empty();
        self.is_ordered &= is_first || self.text[self.last.clone()] < *name;
        put(&mut self.text, name);
        self.last = self.text.len() - name.len()..self.text.len();
        put(&mut self.text, value);
    }

    fn into_labels(self) -> Labels {
        let text = match self.is_ordered {
            true => self.text,
            false => in_order(&self.text),
        };
        Labels {
            pairs: (!text.is_empty()).then(|| shared(&text)),
        }
    }
}

/// The text of the same pairs in the order of their names, without those that a later one replaces.
fn in_order(text: &str) -> String {
    let mut ordered: Vec<(&str, &str)> = pairs(text).collect();
    // Stable, so that equal names keep their order.
    ordered.sort_by_key(|(name, _)| *name);
    let mut text = String::with_capacity(text.len());
    for (number, (name, value)) in ordered.iter().enumerate() {
        let next = ordered.get(number + 1);
        if next.is_none_or(|(next, _)| next != name) {
            put(&mut text, name);
            put(&mut text, value);
        }
    }
    text
}

impl HasLabels for Labels {
    fn label(&self, name: &str) -> Option<&str> {
        self.get(name)
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'de> Deserialize<'de> for Labels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(LabelsVisitor)
    }
}

/// A name or a value, borrowed where the parser allows it.
struct Text<'a>(Cow<'a, str>);

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }
}

struct LabelsVisitor;

impl<'de> Visitor<'de> for LabelsVisitor {
    type Value = Labels;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("labels")
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<Labels, E> {
        Ok(Labels::default())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Labels, E> {
        Ok(Labels::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Labels, D::Error> {
        // As a struct, because a measurement would take a map for a `BTreeMap`.
        deserializer.deserialize_struct("Labels", &[], self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Labels, A::Error> {
        let mut text = PairsText::default();
        while let Some((name, value)) = map.next_entry::<Text<'de>, Text<'de>>()? {
            text.push(name.as_ref(), value.as_ref());
        }
        Ok(text.into_labels())
    }
}

/// Appends a text behind its length. Each character of the length has six of its bits, and says
/// whether another one follows.
fn put(pairs: &mut String, text: &str) {
    let mut len = text.len();
    while len >= 0x40 {
        pairs.push(char::from(0x40 | (len & 0x3F) as u8));
        len >>= 6;
    }
    pairs.push(char::from(len as u8));
    pairs.push_str(text);
}

/// The pairs of a text.
fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let name = take(&mut rest)?;
        Some((name, take(&mut rest)?))
    })
}

/// Takes the first text off; `None` at the end.
fn take<'a>(pairs: &mut &'a str) -> Option<&'a str> {
    let (mut len, mut shift, mut digits) = (0, 0, 0);
    for byte in pairs.bytes() {
        digits += 1;
        len |= usize::from(byte & 0x3F) << shift;
        shift += 6;
        if byte & 0x40 == 0 {
            break;
        }
    }
    let text = pairs.get(digits..digits + len).filter(|_| digits > 0)?;
    *pairs = &pairs[digits + len..];
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_labels_are_shared() {
        let labels = |n: usize| Labels::from_iter([("app", "web"), ("n", n.to_string().as_str())]);
        let (one, same, other) = (labels(1), labels(1), labels(2));
        let pointer = |labels: &Labels| labels.pairs.as_ref().map(|pairs| pairs.as_ptr());
        assert_eq!(pointer(&one), pointer(&same));
        assert_ne!(one, other);
        assert_eq!(format!("{one:?}"), r#"{"app": "web", "n": "1"}"#);
    }

    proptest! {
        #[test]
        fn labels_are_those_of_a_map(
            pairs in prop::collection::vec(("[ab]?|.{0,3}|[a-c]{60,140}", ".{0,5}|x{60,70}|x{5000}"), 0..6)
        ) {
            let map: BTreeMap<String, String> = pairs.iter().cloned().collect();
            let collected: Labels = pairs.into_iter().collect();
            let json = serde_json::to_string(&map).expect("JSON");
            let decoded: Labels = serde_json::from_str(&json).expect("labels");
            let expected = map.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            prop_assert!(decoded.iter().eq(expected));
            prop_assert_eq!(&collected, &decoded);
            prop_assert_eq!((decoded.len(), decoded.is_empty()), (map.len(), map.is_empty()));
            for name in map.keys().map(String::as_str).chain(["absent"]) {
                prop_assert_eq!(decoded.get(name), map.get(name).map(String::as_str));
            }
        }
    }
}
