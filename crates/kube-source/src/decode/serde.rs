//! The decoder of types that implement `Deserialize`.
//!
//! There are two parsers of JSON. The tape is the fast one; serde_json decides whenever the tape
//! has no result. The result does not depend on the parser used (`docs/adr/0007-json-parser.md`).
//! Both refuse the 128th level of nesting. Text that has been checked is read on demand, without a
//! tape.
// FM-55, SEC-19: the depth.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicUsize, Ordering};

use informer_kube_protobuf::{ErrorKind, Schema, copy_without};
use informer_reflector::{DecodeError, DecodeErrorCategory};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::{
    Projection,
    decode::{
        decoder::{Buffers, Decode, Encoded, Wire},
        json_text::presentable,
        measure::Measured,
        message,
        object::guarded,
        on_demand::OnDemand,
        shape::{
            self, DeepShaped, TypeNames, checked::Checked, cuts::copy_by_tape, prune::copy_pruned,
            repeated::is_repeated,
        },
        tape::{Misfit, Scratch},
    },
};

/// Decodes objects into any type that implements `Deserialize`, without the fields that a
/// projection drops. It reads JSON and protobuf.
#[derive(Debug, Default)]
pub struct SerdeDecoder {
    projection: Projection,
    /// The number of consecutive objects that only serde_json decoded.
    detours: AtomicU8,
    /// The number of objects decoded, modulo 2^32.
    decoded: AtomicU32,
    /// The average bytes of the objects measured last; 0 before the first.
    average: AtomicUsize,
    /// Set once the type has proved to be one that only serde_json can decode.
    is_json_only: AtomicBool,
}

/// After this many consecutive objects that only serde_json decodes, the tape is skipped.
const MOST_DETOURS: u8 = 32;

/// One object in 1,024 is measured, and one in 16 of the first 256, because measuring decodes it
/// again.
const MEASURED_OF: u32 = 1_024;
const MEASURED_OF_FIRST: u32 = 16;
const FIRST: u32 = 256;

/// An error with the path at which it occurred.
type Traced = serde_path_to_error::Error<serde_json::Error>;

/// The least weight of a measured object in the average is one of this many.
const REMEMBERED: usize = 16;

impl<T: DeserializeOwned + 'static> Decode<T> for SerdeDecoder {
    fn decode(&self, object: Encoded<'_>, buffers: &mut Buffers) -> Result<T, DecodeError> {
        let decoded = match object.wire {
            Wire::Json(json) => self.parse(json, object.type_names, buffers.get()),
            Wire::Protobuf(message) => {
                let names = object.type_names;
                let schema = message::schema_or_metadata(names);
                self.parse_message(schema, message, names, &self.projection)
            }
        }?;
        self.count::<T>(object);
        Ok(decoded)
    }

    fn reads_protobuf(&self) -> bool {
        !self.is_json_only.load(Ordering::Relaxed)
    }

    fn object_bytes(&self) -> Option<usize> {
        match self.average.load(Ordering::Relaxed) {
            0 => None,
            average => Some(average),
        }
    }
}

impl SerdeDecoder {
    /// A decoder that drops the fields of `projection`.
    #[must_use]
    pub fn new(projection: Projection) -> Self {
        Self {
            projection,
            ..Self::default()
        }
    }

    /// Decodes the JSON of an object that contains its own type names.
    ///
    /// For text that did not come from a source, such as text that was kept. The decoder does not
    /// check its size.
    ///
    /// # Errors
    ///
    /// [`DecodeError`], with the path of what cannot be decoded.
    pub fn decode_text<T: DeserializeOwned>(
        &self,
        json: &str,
        buffers: &mut Buffers,
    ) -> Result<T, DecodeError> {
        self.parse(json, None, buffers.get())
    }

    /// Decodes JSON text that has been checked, with its own type names: text that is known to be
    /// well formed, such as [`decode_with_message`](Self::decode_with_message) copies.
    ///
    /// Text that `T` does not read is skipped and not checked, so a few fields cost a fraction of
    /// what [`decode_text`](Self::decode_text) costs. The result is the same for well-formed text.
    /// Text that is not well formed gives an error or an arbitrary value.
    ///
    /// # Errors
    ///
    /// [`DecodeError`], with the path of what cannot be decoded, and for bytes that are not UTF-8.
    pub fn decode_checked_text<T: DeserializeOwned>(&self, json: &[u8]) -> Result<T, DecodeError> {
        let Ok(json) = simdutf8::basic::from_utf8(json) else {
            return Err(DecodeError::new(
                DecodeErrorCategory::Syntax,
                "?".to_owned(),
                0,
                0,
            ));
        };
        let mut text = OnDemand::new(json);
        let decoded = shape::decode(&mut text, &self.projection, None)
            .and_then(|object| text.end().map(|()| object));
        decoded.or_else(|Misfit| self.parse_text(json, None))
    }

    /// Decodes the protobuf message of an object of this type.
    ///
    /// For messages that did not come from a source, such as messages that were kept. The decoder
    /// does not check their size.
    ///
    /// # Errors
    ///
    /// [`DecodeError`], with the path of what cannot be decoded.
    pub fn decode_message<T: DeserializeOwned + 'static>(
        &self,
        message: &[u8],
        type_names: TypeNames<'_>,
    ) -> Result<T, DecodeError> {
        let names = Some(type_names);
        let schema = message::schema_or_metadata(names);
        self.parse_message(schema, message, names, &self.projection)
    }

    /// Decodes an object, and replaces `copy` by the bytes of all of it in the same format, without
    /// the fields that the projection drops. JSON has its type names then; protobuf has none.
    ///
    /// For decoders that keep bytes beside a type that reads part of them. Because the rest is read
    /// later, all of it is checked: an object with a text, a number or a depth that no parser would
    /// accept is refused, also in a field that `T` does not have.
    ///
    /// # Errors
    ///
    /// As for [`decode`](Decode::decode). After an error `copy` has no meaning.
    pub fn decode_with_message<T: DeserializeOwned + 'static>(
        &self,
        object: Encoded<'_>,
        buffers: &mut Buffers,
        copy: &mut Vec<u8>,
    ) -> Result<T, DecodeError> {
        let decoded = match object.wire {
            Wire::Json(json) => self.decode_with_text(json, object.type_names, buffers, copy),
            Wire::Protobuf(message) => {
                let names = object.type_names;
                let schema = message::schema_or_metadata(names);
                copy.clear();
                copy_without(schema, message, self.projection.root(), copy)
                    .map_err(|error| self.explain_message(&error))
                    .and_then(|()| self.parse_message(schema, copy, names, &Projection::default()))
            }
        }?;
        self.count::<T>(object);
        Ok(decoded)
    }

    fn decode_with_text<T: DeserializeOwned>(
        &self,
        json: &str,
        names: Option<TypeNames<'_>>,
        buffers: &mut Buffers,
        text: &mut Vec<u8>,
    ) -> Result<T, DecodeError> {
        let projection = &self.projection;
        let scratch = buffers.get::<Scratch>();
        let on_tape = scratch.read_located(json, |tokens, start| {
            if is_repeated(&mut { tokens })? {
                return Err(Misfit);
            }
            let decoded = shape::decode(&mut { tokens }, projection, names)?;
            text.clear();
            let is_copied = copy_by_tape(json, (tokens, start), projection, names, text).is_ok();
            Ok((decoded, is_copied))
        });
        let (decoded, is_copied) = match on_tape {
            Some(read) => read,
            None => {
                let decoded = self.parse_text(json, names)?;
                serde_json::from_str::<Checked>(json).map_err(|error| {
                    let (line, column) = (error.line(), error.column());
                    DecodeError::new(category_of(&error), "?".to_owned(), line, column)
                })?;
                (decoded, false)
            }
        };
        if !is_copied {
            text.clear();
            copy_pruned(json, projection, names, text);
        }
        Ok(decoded)
    }

    /// Returns the bytes that an object takes in memory once it is decoded as `T`, with everything
    /// that it owns.
    ///
    /// [`object_bytes`](Decode::object_bytes) is the average of some decoded objects, for a running
    /// informer. This is for programs that measure objects of their choice. It decodes the object,
    /// and changes nothing that the decoder remembers. A panic of `T` is the caller's.
    ///
    /// # Errors
    ///
    /// [`DecodeError`], with the path of what cannot be decoded.
    pub fn measure<T: DeserializeOwned>(&self, object: Encoded<'_>) -> Result<usize, DecodeError> {
        let measure = |json: &str, names| {
            self.inspect::<T>(json, names).map_err(|error| {
                let path = presentable(&error.path().to_string());
                let error = error.into_inner();
                DecodeError::new(category_of(&error), path, error.line(), error.column())
            })
        };
        match object.wire {
            Wire::Json(json) => measure(json, object.type_names),
            // A value of its JSON takes as many bytes, and no further decoding of `T` is compiled.
            Wire::Protobuf(message) => {
                let json = message::to_json(message, object.type_names, &self.projection);
                measure(&json.map_err(|error| message::explain(&error))?, None)
            }
        }
    }

    fn parse_message<T: DeserializeOwned + 'static>(
        &self,
        schema: Schema,
        message: &[u8],
        names: Option<TypeNames<'_>>,
        projection: &Projection,
    ) -> Result<T, DecodeError> {
        message::decode(schema, message, names, projection)
            .map_err(|error| self.explain_message(&error))
    }

    #[cold]
    fn explain_message(&self, error: &informer_kube_protobuf::Error) -> DecodeError {
        if matches!(error.kind(), ErrorKind::JsonOnly(_)) {
            self.is_json_only.store(true, Ordering::Relaxed);
        }
        message::explain(error)
    }

    /// Counts a decoded object, and measures some.
    fn count<T: DeserializeOwned>(&self, object: Encoded<'_>) {
        let number = self.decoded.fetch_add(1, Ordering::Relaxed);
        let measured_of = match number {
            0..FIRST => MEASURED_OF_FIRST,
            _ => MEASURED_OF,
        };
        if number.is_multiple_of(measured_of) {
            let measured = (number / MEASURED_OF_FIRST + 1) as usize;
            self.average::<T>(object, measured.min(REMEMBERED));
        }
    }

    fn parse<T: DeserializeOwned>(
        &self,
        json: &str,
        names: Option<TypeNames<'_>>,
        scratch: &mut Scratch,
    ) -> Result<T, DecodeError> {
        let detours = self.detours.load(Ordering::Relaxed);
        if detours < MOST_DETOURS
            && let Some(object) = self.parse_tape(json, names, scratch)
        {
            if detours > 0 {
                self.detours.store(0, Ordering::Relaxed);
            }
            return Ok(object);
        }
        let object = self.parse_text(json, names)?;
        if detours < MOST_DETOURS {
            self.detours.store(detours + 1, Ordering::Relaxed);
        }
        Ok(object)
    }

    fn parse_tape<T: DeserializeOwned>(
        &self,
        json: &str,
        names: Option<TypeNames<'_>>,
        scratch: &mut Scratch,
    ) -> Option<T> {
        scratch.read(json, |tokens| match is_repeated(&mut { tokens })? {
            true => Err(Misfit),
            false => shape::decode(&mut { tokens }, &self.projection, names),
        })
    }

    fn parse_text<T: DeserializeOwned>(
        &self,
        json: &str,
        names: Option<TypeNames<'_>>,
    ) -> Result<T, DecodeError> {
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let shaped = DeepShaped::new(&mut deserializer, &self.projection, names);
        let object = T::deserialize(shaped)
            .and_then(|object| deserializer.end().map(|()| object))
            .map_err(|error| self.explain::<T>(json, names, &error))?;
        match is_repeated(&mut serde_json::Deserializer::from_str(json)) {
            Ok(true) => {
                let path = "metadata".to_owned();
                Err(DecodeError::new(DecodeErrorCategory::Data, path, 0, 0))
            }
            _ => Ok(object),
        }
    }

    /// Decodes once more to find the path of the error. Good objects do not pay for it.
    #[cold]
    fn explain<T: DeserializeOwned>(
        &self,
        json: &str,
        names: Option<TypeNames<'_>>,
        error: &serde_json::Error,
    ) -> DecodeError {
        let path = match self.inspect::<T>(json, names) {
            Err(traced) => presentable(&traced.path().to_string()),
            Ok(_) => "?".to_owned(),
        };
        DecodeError::new(category_of(error), path, error.line(), error.column())
    }

    /// Decodes an object once more to measure it, and counts it in the average with the weight of
    /// one of `weight`. A concurrent measurement may be lost.
    #[cold]
    fn average<T: DeserializeOwned>(&self, object: Encoded<'_>, weight: usize) {
        // The object has been decoded: a panic of its type now must not cost it.
        let Some(Ok(bytes)) = guarded(|| self.measure::<T>(object)) else {
            return;
        };
        let before = self.average.load(Ordering::Relaxed);
        let average = before - before / weight + bytes / weight;
        self.average.store(average, Ordering::Relaxed);
    }

    /// The bytes that the object takes decoded, or why and where it cannot be decoded.
    ///
    /// One function for both: each way of decoding a type is much code.
    fn inspect<T: DeserializeOwned>(
        &self,
        json: &str,
        names: Option<TypeNames<'_>>,
    ) -> Result<usize, Traced> {
        let allocated = Cell::new(0);
        let mut deserializer = serde_json::Deserializer::from_str(json);
        let shaped = DeepShaped::new(&mut deserializer, &self.projection, names);
        let measured = Measured::new(shaped, &allocated);
        serde_path_to_error::deserialize::<_, T>(measured)?;
        Ok(size_of::<T>() + allocated.get())
    }
}

fn category_of(error: &serde_json::Error) -> DecodeErrorCategory {
    match error.classify() {
        Category::Data => DecodeErrorCategory::Data,
        // serde_json has no other way to distinguish it; a test checks the wording.
        _ if error.to_string().starts_with("recursion limit exceeded") => {
            DecodeErrorCategory::Depth
        }
        _ => DecodeErrorCategory::Syntax,
    }
}
