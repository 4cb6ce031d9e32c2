//! Dictionaries: the content that many values share.

use std::fmt;

use crate::codec::{self, Decoder};
use crate::error::{DictionaryError, TrainError};

/// The bytes with which a trained dictionary begins.
const MAGIC: [u8; 4] = [0x37, 0xA4, 0x30, 0xEC];

/// The place of the id in a trained dictionary.
const ID: std::ops::Range<usize> = 4..8;

/// The offsets with which every frame begins. They end the tables of a trained dictionary, and the
/// content follows.
const OFFSETS: [u8; 12] = [1, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0];

/// The tables of a trained dictionary are shorter than this.
const LONGEST_TABLES: usize = 1024;

/// The content that values of one kind have in common, trained from samples.
///
/// A [`Packer`](crate::Packer) and every value that it packs share the dictionary through an `Arc`.
/// It is freed with the last of them.
pub struct Dictionary {
    bytes: Box<[u8]>,
    decoder: Decoder,
}

impl Dictionary {
    /// Trains a dictionary of at most `max_len` bytes.
    ///
    /// Together the samples should be a hundred times as long as the dictionary. If there are only
    /// a few hundred values, use all of them: 16 to 64 KiB from 500 documents serve well. Training
    /// copies the samples, and takes about a hundred milliseconds for each megabyte of them.
    ///
    /// The same samples give the same dictionary.
    ///
    /// # Errors
    ///
    /// [`TrainError::Samples`] if there are too few samples, or if they have nothing in common;
    /// [`TrainError::NoCodec`] without the feature `zstd`.
    pub fn train<S: AsRef<[u8]>>(
        samples: impl IntoIterator<Item = S>,
        max_len: usize,
    ) -> Result<Self, TrainError> {
        Self::from_joined(&Joined::new(samples), max_len)
    }

    pub(crate) fn from_joined(samples: &Joined, max_len: usize) -> Result<Self, TrainError> {
        let Joined { bytes, lengths } = samples;
        // Because a dictionary is made of parts of the samples, it is never longer than they are.
        let trained = codec::train(bytes, lengths, max_len.min(bytes.len()))?;
        Ok(Self::from_bytes(&trained)?)
    }

    /// Makes a dictionary from the bytes of one that was trained before.
    ///
    /// The bytes may come from [`as_bytes`](Self::as_bytes) or from the command `zstd --train`.
    ///
    /// # Errors
    ///
    /// [`DictionaryError`], if the bytes are not a trained dictionary or it is damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DictionaryError> {
        let len = bytes.len();
        let mut bytes: Box<[u8]> = bytes.into();
        if !bytes.starts_with(&MAGIC) {
            return Err(DictionaryError::Untrained { len });
        }
        // Every value would spend four bytes on the id of its dictionary, and has an `Arc` of it.
        // Zero means that there is no id.
        let id = bytes.get_mut(ID);
        id.ok_or(DictionaryError::Untrained { len })?.fill(0);
        let decoder = Decoder::new(&bytes)?;
        Ok(Self { bytes, decoder })
    }

    /// Returns a shorter dictionary of the same tables and the end of the content, which is where
    /// training puts what gains most. Returns `None` if it is not longer than that, or if its
    /// content cannot be found.
    pub(crate) fn shortened(&self, len: usize) -> Option<Self> {
        let left_out = self.bytes.len().checked_sub(len).filter(|len| *len > 0)?;
        let head = self.bytes.get(..LONGEST_TABLES.min(len))?;
        let mut windows = head.windows(OFFSETS.len());
        let end = windows.position(|window| window == OFFSETS)? + OFFSETS.len();
        let (tables, content) = self.bytes.split_at(end);
        Self::from_bytes(&[tables, &content[left_out..]].concat()).ok()
    }

    /// Returns the bytes of the dictionary, with which [`from_bytes`](Self::from_bytes) makes it
    /// again.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes of memory that the dictionary takes, with the codec's tables.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.bytes.len() + self.decoder.memory()
    }

    pub(crate) fn decoder(&self) -> &Decoder {
        &self.decoder
    }
}

/// Samples that lie one after the other.
pub(crate) struct Joined {
    pub(crate) bytes: Vec<u8>,
    lengths: Vec<usize>,
}

impl Joined {
    /// Copies the samples into memory of exactly their length.
    pub(crate) fn new<S: AsRef<[u8]>>(samples: impl IntoIterator<Item = S>) -> Self {
        let samples: Vec<S> = samples.into_iter().collect();
        let lengths: Vec<usize> = samples.iter().map(|sample| sample.as_ref().len()).collect();
        let mut bytes = Vec::with_capacity(lengths.iter().sum());
        for sample in samples {
            bytes.extend_from_slice(sample.as_ref());
        }
        Self { bytes, lengths }
    }
}

/// Shows the length only, since a dictionary is made of parts of its samples.
impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary")
            .field("len", &self.bytes.len())
            .finish_non_exhaustive()
    }
}
