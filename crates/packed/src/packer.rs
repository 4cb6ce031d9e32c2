//! Packs values, each on its own.

use std::fmt;
use std::sync::Arc;

use crate::codec::Encoder;
use crate::dictionary::Dictionary;
use crate::error::DictionaryError;
use crate::packed::Packed;

/// The level at which packing is quickest for its ratio.
///
/// With a dictionary, higher levels take several times as long for a few percent: see the figures
/// in the crate's README.
pub const DEFAULT_LEVEL: i32 = 1;

/// Packs values, with a dictionary or without.
///
/// A packer is shared between threads; each thread keeps a context of the codec.
pub struct Packer {
    dictionary: Option<Arc<Dictionary>>,
    encoder: Encoder,
}

impl Packer {
    /// Creates a packer without a dictionary, for long values, or values that do not resemble each
    /// other.
    ///
    /// Levels are those of zstd: 1 to 22, negative ones for speed. A level out of range is set to
    /// the nearest one.
    pub fn new(level: i32) -> Self {
        Self {
            dictionary: None,
            encoder: Encoder::plain(level),
        }
    }

    /// Makes a packer that packs against a dictionary, at a level as for [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// [`DictionaryError::Refused`], if the tables of the dictionary are damaged or there is no
    /// memory for them.
    pub fn with_dictionary(
        dictionary: Arc<Dictionary>,
        level: i32,
    ) -> Result<Self, DictionaryError> {
        let encoder = Encoder::with_dictionary(dictionary.as_bytes(), level)?;
        Ok(Self {
            dictionary: Some(dictionary),
            encoder,
        })
    }

    /// Returns the dictionary that the packer packs against.
    pub fn dictionary(&self) -> Option<&Arc<Dictionary>> {
        self.dictionary.as_ref()
    }

    /// Returns the bytes of memory that the packer takes, without its dictionary and without the
    /// contexts of threads.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.encoder.memory()
    }

    /// Packs one value.
    ///
    /// This cannot fail: a value that the codec does not make smaller is stored as it is, and so is
    /// one that is longer than [`Packed::MAX_LEN`].
    pub fn pack(&self, value: &[u8]) -> Packed {
        if value.len() > Packed::MAX_LEN {
            return Packed::stored(value);
        }
        let packed = self.encoder.compress(value, |frame| {
            let smaller = frame.len() < value.len();
            smaller.then(|| Packed::compressed(value, frame, self.dictionary.clone()))
        });
        packed.flatten().unwrap_or_else(|| Packed::stored(value))
    }

    /// Packs one value, or stores it as it is if packing is not worth the time to unpack it.
    ///
    /// Without a dictionary, a value is packed only if this at least halves it, because unpacking
    /// is not faster than with one and the gain is smaller. With a dictionary every value is
    /// packed.
    pub fn pack_or_store(&self, value: &[u8]) -> Packed {
        let packed = self.pack(value);
        match self.dictionary.is_none() && packed.packed_len() * 2 > value.len() {
            true => Packed::stored(value),
            false => packed,
        }
    }
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packer")
            .field("dictionary", &self.dictionary)
            .finish_non_exhaustive()
    }
}
