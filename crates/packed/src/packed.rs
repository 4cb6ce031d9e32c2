//! One packed value: a header, and the value's bytes, compressed or as they were.
//!
//! The header is one byte for the kind and four for the checksum of the unpacked bytes. A
//! compressed value goes on with a frame of zstd without its first four bytes, which are the same
//! in each. The frame states the length of the unpacked bytes.
//!
//! The checksum is not the one of zstd, which writes none into frames of a prepared dictionary. It
//! covers stored values as well.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use foldhash::quality::FixedState;

use crate::codec;
use crate::dictionary::Dictionary;
use crate::error::UnpackError;

/// The kind of a value that is stored as it is.
const STORED: u8 = 0;
/// The kind of a value whose header is followed by a frame.
const COMPRESSED: u8 = 1;

/// The bytes of the kind and of the checksum.
const HEADER: usize = 5;

/// A packed value: its bytes, and the dictionary that unpacks them.
///
/// Cloning copies the packed bytes and shares the dictionary.
#[derive(Clone)]
pub struct Packed {
    /// Only for a value that was compressed with it, so that other values do not keep it alive.
    dictionary: Option<Arc<Dictionary>>,
    bytes: Box<[u8]>,
}

impl Packed {
    /// The length of the longest value that a packer compresses, 16 MiB.
    ///
    /// This is the most that unpacking allocates for a damaged value. Longer values are stored.
    pub const MAX_LEN: usize = 16 * 1024 * 1024;

    /// Keeps a value as it is, for a value that is packed later or not worth packing.
    pub fn stored(value: &[u8]) -> Self {
        Self {
            dictionary: None,
            bytes: assemble(STORED, value, value),
        }
    }

    pub(crate) fn compressed(
        value: &[u8],
        frame: &[u8],
        dictionary: Option<Arc<Dictionary>>,
    ) -> Self {
        Self {
            dictionary,
            bytes: assemble(COMPRESSED, value, frame),
        }
    }

    /// Returns the value in a new vector of exactly its length.
    ///
    /// # Errors
    ///
    /// [`UnpackError`], if the packed bytes are damaged or there is no memory.
    pub fn unpack(&self) -> Result<Vec<u8>, UnpackError> {
        let mut value = Vec::new();
        self.unpack_into(&mut value)?;
        Ok(value)
    }

    /// Replaces the content of `value` by the unpacked value.
    ///
    /// A vector that is long enough already is not allocated again.
    ///
    /// # Errors
    ///
    /// As for [`unpack`](Self::unpack). After an error the content of `value` has no meaning.
    pub fn unpack_into(&self, value: &mut Vec<u8>) -> Result<(), UnpackError> {
        value.clear();
        let (kind, sum, body) = self.parts().ok_or(UnpackError::Header)?;
        let len = self.stated_len().ok_or(UnpackError::Header)?;
        let too_long = UnpackError::TooLong {
            stated: len,
            max: Self::MAX_LEN,
        };
        let len = usize::try_from(len).map_err(|_| too_long)?;
        if kind == COMPRESSED && len > Self::MAX_LEN {
            return Err(too_long);
        }
        if value.try_reserve_exact(len).is_err() {
            return Err(UnpackError::OutOfMemory { len });
        }
        if kind == COMPRESSED {
            let decoder = self.dictionary.as_deref().map(Dictionary::decoder);
            codec::decompress(body, decoder, len, value)?;
        } else {
            value.extend_from_slice(body);
        }
        match checksum(value) == sum {
            true => Ok(()),
            false => Err(UnpackError::Checksum),
        }
    }

    /// Returns the value: borrowed if it is stored as it was.
    ///
    /// # Errors
    ///
    /// As for [`unpack`](Self::unpack).
    pub fn bytes(&self) -> Result<Cow<'_, [u8]>, UnpackError> {
        match self.parts() {
            Some((STORED, sum, body)) if checksum(body) == sum => Ok(Cow::Borrowed(body)),
            _ => self.unpack().map(Cow::Owned),
        }
    }

    /// Returns the length of the unpacked value, as its header states it.
    ///
    /// Only unpacking checks the header. If the header is damaged, the result may be any number.
    pub fn len(&self) -> usize {
        let stated = self.stated_len().unwrap_or_default();
        usize::try_from(stated).unwrap_or(usize::MAX)
    }

    /// Returns true if the unpacked value has no bytes, as its header states it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if the value is stored as it was.
    pub fn is_stored(&self) -> bool {
        self.bytes.first() == Some(&STORED)
    }

    /// Returns the length of the packed value, with its header of five bytes.
    pub fn packed_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the bytes of memory that the value takes, without its dictionary.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.bytes.len()
    }

    /// Returns the dictionary that the value was compressed with.
    ///
    /// A value that is stored has none, even if its packer has one.
    pub fn dictionary(&self) -> Option<&Arc<Dictionary>> {
        self.dictionary.as_ref()
    }

    /// Returns a copy whose packed bytes `damage` has changed: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn damaged(&self, damage: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut bytes = self.bytes.to_vec();
        damage(&mut bytes);
        Self {
            dictionary: self.dictionary.clone(),
            bytes: bytes.into(),
        }
    }

    fn stated_len(&self) -> Option<u64> {
        let (kind, _, body) = self.parts()?;
        match kind {
            COMPRESSED => codec::stated_len(body),
            _ => Some(body.len() as u64),
        }
    }

    /// The kind, which is one of the two, the checksum, and the bytes that follow.
    fn parts(&self) -> Option<(u8, [u8; 4], &[u8])> {
        let (&kind, rest) = self.bytes.split_first()?;
        let (sum, body) = rest.split_first_chunk()?;
        let known = kind == STORED || kind == COMPRESSED;
        known.then_some((kind, *sum, body))
    }
}

/// Shows lengths only, since the value may be secret.
impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packed")
            .field("len", &self.len())
            .field("packed_len", &self.packed_len())
            .field("dictionary", &self.dictionary)
            .finish_non_exhaustive()
    }
}

fn assemble(kind: u8, value: &[u8], body: &[u8]) -> Box<[u8]> {
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.push(kind);
    bytes.extend_from_slice(&checksum(value));
    bytes.extend_from_slice(body);
    bytes.into_boxed_slice()
}

/// 32 bits of a hash. It is quick, and need not be the same in another version or program, because
/// a packed value never leaves its process.
fn checksum(value: &[u8]) -> [u8; 4] {
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(value);
    (hasher.finish() as u32).to_le_bytes()
}
