//! A deserializer around another one that skips fields and supplies type names.
//!
//! Fields that a [`Node`] drops are skipped before they are allocated. Items of a list have no
//! `apiVersion` and `kind`; these are supplied, so a dynamic object from a list equals one from a
//! watch. Only maps and lists on the path to a dropped field are wrapped; all other values are
//! decoded by the inner deserializer, which belongs to one of the two parsers.

use std::fmt;

use informer_kube_protobuf::KeyDeserializer;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use self::projection::{Node, Projection};
use crate::decode::envelope::Text;

pub(crate) mod checked;
pub(crate) mod cuts;
pub(crate) mod projection;
pub(crate) mod prune;
pub(crate) mod repeated;

/// Drops nothing.
static NOTHING: Node = Node::new();

/// The names of a type.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TypeNames<'p> {
    /// Its group and version, such as `apps/v1`.
    pub api_version: &'p str,
    /// Its kind, such as `Deployment`.
    pub kind: &'p str,
}

impl<'p> TypeNames<'p> {
    /// The names of a type, such as `apps/v1` and `Deployment`.
    pub const fn new(api_version: &'p str, kind: &'p str) -> Self {
        Self { api_version, kind }
    }
}

/// A wrapped deserializer for decoding that is rare.
pub(crate) type DeepShaped<'p, D> = Shaped<'p, D, true>;

/// Decodes an object without the fields of `projection`, with `names` as its type unless `None`.
///
/// An object that is decoded as it is does not pay for the shaping.
#[inline]
pub(crate) fn decode<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
    projection: &Projection,
    names: Option<TypeNames<'_>>,
) -> Result<T, D::Error> {
    match names.is_none() && projection.is_empty() {
        true => T::deserialize(deserializer),
        false => T::deserialize(Shaped::<_>::new(deserializer, projection, names)),
    }
}

/// Wraps a deserializer, a visitor, a seed or an access.
///
/// A value without dropped fields is decoded by the inner deserializer alone, unless `DEEP`. All
/// types in an object are thus compiled a second time, without the wrapper. `DEEP` is for decoders
/// that are rarely used: the compiler does the work once, and each field takes a little longer.
pub(crate) struct Shaped<'p, I, const DEEP: bool = false> {
    inner: I,
    node: &'p Node,
    names: Option<TypeNames<'p>>,
}

impl<'p, I, const DEEP: bool> Shaped<'p, I, DEEP> {
    /// Skips the fields that `projection` drops; supplies `names` unless `None`.
    pub(crate) fn new(inner: I, projection: &'p Projection, names: Option<TypeNames<'p>>) -> Self {
        let node = projection.root();
        Self { inner, node, names }
    }

    fn around<J>(&self, inner: J) -> Shaped<'p, J, DEEP> {
        let (node, names) = (self.node, self.names);
        Shaped { inner, node, names }
    }

    fn unshaped<J>(&self, inner: J) -> J {
        inner
    }
}

impl<'de, D: Deserializer<'de>, const DEEP: bool> Deserializer<'de> for Shaped<'_, D, DEEP> {
    type Error = D::Error;

    forwarded! {
        around:
        deserialize_any();
        deserialize_option();
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(len: usize);
        deserialize_tuple_struct(name: &'static str, len: usize);
        deserialize_map();
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
    }

    // Nothing is dropped inside an enum, whose tag would have to be known.
    forwarded_plain!(unshaped);
    forwarded! {
        unshaped:
        deserialize_str(); deserialize_string();
        deserialize_bytes(); deserialize_byte_buf();
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

impl<'de, V: Visitor<'de>, const DEEP: bool> Visitor<'de> for Shaped<'_, V, DEEP> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    visited_plain!();
    visited! {
        visit_str(value: &str);
        visit_borrowed_str(value: &'de str);
        visit_string(value: String);
        visit_bytes(value: &[u8]);
        visit_borrowed_bytes(value: &'de [u8]);
        visit_byte_buf(value: Vec<u8>);
    }

    visited_around! {
        visit_some(Deserializer);
        visit_newtype_struct(Deserializer);
        visit_seq(SeqAccess);
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        self.inner.visit_enum(access)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        self.inner.visit_map(ShapedMap::<_, DEEP> {
            map,
            node: self.node,
            names: self.names,
            supplied: 0,
            value: NextValue::Whole,
        })
    }
}

impl<'de, S: DeserializeSeed<'de>, const DEEP: bool> DeserializeSeed<'de> for Shaped<'_, S, DEEP> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let deserializer = self.around(deserializer);
        self.inner.deserialize(deserializer)
    }
}

impl<'de, A: SeqAccess<'de>, const DEEP: bool> SeqAccess<'de> for Shaped<'_, A, DEEP> {
    type Error = A::Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let seed = self.around(seed);
        self.inner.next_element_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

/// Access to the members of an object that are supplied, and then to those that are not dropped.
struct ShapedMap<'p, A, const DEEP: bool> {
    map: A,
    node: &'p Node,
    names: Option<TypeNames<'p>>,
    /// The number of type names that were supplied.
    supplied: usize,
    value: NextValue<'p>,
}

/// The value of the next member.
#[derive(Clone, Copy)]
enum NextValue<'p> {
    Whole,
    Below(&'p Node),
    Supplied(&'p str),
}

impl<'p, A, const DEEP: bool> ShapedMap<'p, A, DEEP> {
    #[inline]
    fn next_supplied(&mut self) -> Option<(&'static str, &'p str)> {
        let names = self.names?;
        self.supplied += 1;
        match self.supplied {
            1 => Some(("apiVersion", names.api_version)),
            2 => Some(("kind", names.kind)),
            _ => None,
        }
    }

    fn below<S>(node: &'p Node, seed: S) -> Shaped<'p, S, DEEP> {
        let (inner, names) = (seed, None);
        Shaped { inner, node, names }
    }

    /// How a member of the object is decoded; `None` if it is skipped.
    #[inline]
    fn member(&self, key: &str) -> Option<NextValue<'p>> {
        if self.names.is_some() && matches!(key, "apiVersion" | "kind") {
            return None;
        }
        match self.node.child(key) {
            Some(child) if child.is_dropped() => None,
            Some(child) => Some(NextValue::Below(child)),
            None => Some(NextValue::Whole),
        }
    }
}

impl<'de, A: MapAccess<'de>, const DEEP: bool> MapAccess<'de> for ShapedMap<'_, A, DEEP> {
    type Error = A::Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        if let Some((field, text)) = self.next_supplied() {
            self.value = NextValue::Supplied(text);
            return seed.deserialize(KeyDeserializer::new(field)).map(Some);
        }
        while let Some(Text(key)) = self.map.next_key::<Text<'de>>()? {
            let Some(value) = self.member(&key) else {
                self.map.next_value::<IgnoredAny>()?;
                continue;
            };
            self.value = value;
            return seed.deserialize(KeyDeserializer::new(key)).map(Some);
        }
        Ok(None)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        match self.value {
            NextValue::Whole if DEEP => self.map.next_value_seed(Self::below(&NOTHING, seed)),
            NextValue::Whole => self.map.next_value_seed(seed),
            NextValue::Below(node) => self.map.next_value_seed(Self::below(node, seed)),
            NextValue::Supplied(text) => seed.deserialize(KeyDeserializer::new(text.to_owned())),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        self.map.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::api::core::v1::Pod;
    use kube_core::DynamicObject;
    use serde::{Deserialize, de::DeserializeOwned};
    use serde_json::{Value, json};

    use super::*;

    const NAMES: TypeNames<'_> = TypeNames {
        api_version: "v1",
        kind: "Pod",
    };

    fn shaped<T: DeserializeOwned>(json: &Value, projection: &Projection, named: bool) -> T {
        let text = json.to_string();
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let names = named.then_some(NAMES);
        T::deserialize(Shaped::<_>::new(&mut deserializer, projection, names)).expect("decodes")
    }

    fn pod() -> Value {
        json!({
            "metadata": {
                "name": "a",
                "annotations": {
                    "keep": "1",
                    "kubectl.kubernetes.io/last-applied-configuration": "{}"
                },
                "managedFields": [{"manager": "m", "fieldsV1": {"f:spec": {}}}]
            },
            "spec": {"containers": [
                {"name": "x", "env": [{"name": "E", "value": "1"}]},
                {"name": "y", "image": "i"}
            ]}
        })
    }

    /// What is dropped is gone, the rest is as it was, typed or not.
    #[test]
    fn dropped_fields_are_gone_and_no_others() {
        let projection = Projection::lean().drop_path("spec.containers[].env");
        let typed: Pod = shaped(&pod(), &projection, false);
        let mut expected: Pod = serde_json::from_value(pod()).expect("decodes");
        expected.metadata.managed_fields = None;
        let annotations = expected.metadata.annotations.as_mut().expect("some");
        annotations.retain(|name, _| name == "keep");
        expected.spec.as_mut().expect("some").containers[0].env = None;
        assert_eq!(typed, expected);
        let dynamic: Value = shaped(&pod(), &projection, false);
        let through_value: Pod = serde_json::from_value(dynamic).expect("decodes");
        assert_eq!(through_value, expected);
    }

    /// FM-33's other half: an item of a list knows its type, as an object of a watch does.
    #[test]
    fn the_type_is_supplied_once() {
        let object: DynamicObject = shaped(&pod(), &Projection::new(), true);
        let types = object.types.expect("supplied");
        assert_eq!((&*types.api_version, &*types.kind), ("v1", "Pod"));
        let mut odd = pod();
        odd["kind"] = json!("Odd");
        odd["spec"]["kind"] = json!("inner");
        let value: Value = shaped(&odd, &Projection::new(), true);
        assert_eq!(
            (&value["kind"], &value["spec"]["kind"]),
            (&json!("Pod"), &json!("inner"))
        );
        let typed: Pod = shaped(&pod(), &Projection::new(), true);
        assert_eq!(typed.metadata.name.as_deref(), Some("a"));
    }

    /// Keys that are numbers, newtypes or options survive on the way to a dropped field.
    #[test]
    fn odd_keys_survive() {
        #[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
        struct Key(String);
        #[derive(Debug, Deserialize, PartialEq)]
        #[serde(rename_all = "camelCase")]
        struct Odd {
            api_version: Option<String>,
            numbers: BTreeMap<u32, Option<bool>>,
            newtypes: BTreeMap<Key, i8>,
        }
        let json = json!({"numbers": {"1": true, "2": null}, "newtypes": {"k": 3, "d": 4}});
        let projection = Projection::new()
            .drop_path("numbers.1")
            .drop_path("newtypes.d");
        let odd: Odd = shaped(&json, &projection, true);
        assert_eq!(odd.api_version.as_deref(), Some("v1"));
        assert_eq!(odd.numbers, BTreeMap::from([(2, None)]));
        assert_eq!(odd.newtypes, BTreeMap::from([(Key("k".into()), 3)]));
    }
}
