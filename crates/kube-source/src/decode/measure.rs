//! A deserializer around another one that adds up what the decoded value allocates.
//!
//! A type that implements `Deserialize` does not tell how much memory its values take. The calls
//! that it makes do: each visitor has the type of its value, so the sizes of texts, elements of
//! lists and entries of maps are known when they are read.

use std::cell::Cell;
use std::fmt;
use std::mem::needs_drop;

use serde::Deserializer;
use serde::de::{DeserializeSeed, EnumAccess, Error, MapAccess, SeqAccess, Visitor};

/// The entries of a full node of a `BTreeMap`, and those of a node behind which others were added.
const NODE: usize = 11;
const LEFT_BEHIND: usize = 6;

/// Wraps a deserializer, a visitor or a seed, and counts the bytes that its value allocates.
///
/// A `Box` around a value inside is not seen, nor what a type makes of the value afterwards.
pub(crate) struct Measured<'m, I> {
    inner: I,
    bytes: &'m Cell<usize>,
    /// Whether elements and entries are fields of the value itself.
    in_place: bool,
}

impl<'m, I> Measured<'m, I> {
    pub(crate) fn new(inner: I, bytes: &'m Cell<usize>) -> Self {
        let in_place = false;
        Self {
            inner,
            bytes,
            in_place,
        }
    }

    fn around<J>(&self, inner: J) -> Measured<'m, J> {
        Measured::new(inner, self.bytes)
    }

    fn in_place<J>(&self, inner: J) -> Measured<'m, J> {
        let in_place = true;
        Measured {
            in_place,
            ..self.around(inner)
        }
    }

    fn unmeasured<J>(&self, inner: J) -> J {
        inner
    }

    /// Adds a text or bytes, unless the value of type `V` has no memory of its own, as a time.
    fn add_text<V>(&self, len: usize) {
        if needs_drop::<V>() {
            add(self.bytes, len);
        }
    }
}

/// Adds one allocation. Allocators round up.
fn add(bytes: &Cell<usize>, allocated: usize) {
    bytes.set(bytes.get() + allocated.next_multiple_of(16));
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Measured<'_, D> {
    type Error = D::Error;

    forwarded! {
        around:
        deserialize_any();
        deserialize_option();
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_map();
        deserialize_str(); deserialize_string();
        deserialize_bytes(); deserialize_byte_buf();
    }

    forwarded! {
        in_place:
        deserialize_tuple(len: usize);
        deserialize_tuple_struct(name: &'static str, len: usize);
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
    }

    forwarded_plain!(unmeasured);

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// Writes methods of a `Visitor` that count a text or bytes and pass them on.
macro_rules! visited_text {
    ($($method:ident($type:ty);)*) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<Self::Value, E> {
            self.add_text::<V::Value>(value.len());
            self.inner.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Measured<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    visited_plain!();
    visited_text! {
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
        visit_bytes(&[u8]);
        visit_borrowed_bytes(&'de [u8]);
        visit_byte_buf(Vec<u8>);
    }

    visited_around! {
        visit_some(Deserializer);
        visit_newtype_struct(Deserializer);
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        self.inner.visit_enum(access)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        let mut contents = Contents::new(access, self.bytes);
        let value = self.inner.visit_seq(&mut contents)?;
        let (count, each) = (contents.count, contents.value);
        if !self.in_place {
            add(self.bytes, count * each);
        }
        Ok(value)
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        let mut contents = Contents::new(access, self.bytes);
        let value = self.inner.visit_map(&mut contents)?;
        let (count, each) = (contents.count, contents.key + contents.value);
        if !self.in_place {
            let nodes = match count {
                0..=NODE => count.min(1),
                _ => count.div_ceil(LEFT_BEHIND + 1),
            };
            add(self.bytes, nodes * (NODE * each + size_of::<[usize; 2]>()));
        }
        Ok(value)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Measured<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let deserializer = self.around(deserializer);
        self.inner.deserialize(deserializer)
    }
}

/// The elements of a list or the entries of a map, which are counted.
struct Contents<'m, A> {
    access: A,
    bytes: &'m Cell<usize>,
    count: usize,
    /// The size of the last key.
    key: usize,
    /// The size of the last value.
    value: usize,
}

impl<'m, A> Contents<'m, A> {
    fn new(access: A, bytes: &'m Cell<usize>) -> Self {
        Self {
            access,
            bytes,
            count: 0,
            key: 0,
            value: 0,
        }
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Contents<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let element = self
            .access
            .next_element_seed(Measured::new(seed, self.bytes))?;
        self.count += usize::from(element.is_some());
        self.value = size_of::<S::Value>();
        Ok(element)
    }

    fn size_hint(&self) -> Option<usize> {
        self.access.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Contents<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let key = self.access.next_key_seed(Measured::new(seed, self.bytes))?;
        self.count += usize::from(key.is_some());
        self.key = size_of::<S::Value>();
        Ok(key)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.value = size_of::<S::Value>();
        let seed = Measured::new(seed, self.bytes);
        self.access.next_value_seed(seed)
    }

    fn size_hint(&self) -> Option<usize> {
        self.access.size_hint()
    }
}
