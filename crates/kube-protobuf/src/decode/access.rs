//! How a visitor takes members, elements and entries: the accesses of serde.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess};

use super::elements::{Elements, Entries, Nothing};
use super::members::{Members, Pending, Source};
use super::value::Value;
use crate::error::{Error, Result, Segment};

/// The wire form of a Go value that the wire lacks: zero, an empty string or message.
const ZERO: &[u8] = &[0; 8];

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        self.pending = self.next()?;
        let Some(Pending { field, .. }) = self.pending else {
            return Ok(None);
        };
        seed.deserialize(BorrowedStrDeserializer::new(field.name))
            .map(Some)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let Some(Pending { field, source }) = self.pending.take() else {
            return Err(serde::de::Error::custom("a value before its key"));
        };
        let mut zero = ZERO;
        let value = match source {
            Source::Wire(wire) => {
                let depth = self.depth;
                Value::of_field(self.rest(), field, wire, depth)
            }
            Source::Missing => Value::missing(&mut zero, field, self.depth),
        };
        let mut value = seed.deserialize(value);
        Error::add(&mut value, || Segment::Field(field.name));
        value
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if !self.advance()? {
            return Ok(None);
        }
        let (index, kind, depth) = (self.index, self.kind, self.depth);
        self.index += 1;
        let mut value = seed.deserialize(Value::single(self.rest(), kind, depth));
        Error::add(&mut value, || Segment::Index(index));
        value.map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.count.saturating_sub(self.index))
    }
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if !self.advance()? {
            return Ok(None);
        }
        seed.deserialize(BorrowedStrDeserializer::new(self.key))
            .map(Some)
    }

    #[inline]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value> {
        let mut rest = self.value.unwrap_or(ZERO);
        let mut value = seed.deserialize(Value::single(&mut rest, self.kind, self.depth));
        Error::add(&mut value, || Segment::Key(self.key.to_owned()));
        value
    }
}

impl<'de> SeqAccess<'de> for Nothing {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, _: T) -> Result<Option<T::Value>> {
        Ok(None)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(0)
    }
}

impl<'de> MapAccess<'de> for Nothing {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, _: K) -> Result<Option<K::Value>> {
        Ok(None)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, _: T) -> Result<T::Value> {
        Err(serde::de::Error::custom("an empty map has no value"))
    }
}
