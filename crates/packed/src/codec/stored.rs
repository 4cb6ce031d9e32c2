//! The codec of a build without the feature `zstd`: it compresses nothing and trains nothing.

use crate::error::{DictionaryError, TrainError, UnpackError};

/// Compresses nothing, so that every value is stored.
pub(crate) struct Encoder;

impl Encoder {
    pub(crate) fn plain(_level: i32) -> Self {
        Self
    }

    pub(crate) fn with_dictionary(_bytes: &[u8], _level: i32) -> Result<Self, DictionaryError> {
        Err(DictionaryError::NoCodec)
    }

    pub(crate) fn memory(&self) -> usize {
        0
    }

    pub(crate) fn compress<R>(&self, _value: &[u8], _frame: impl FnOnce(&[u8]) -> R) -> Option<R> {
        None
    }
}

/// Has no values, so that there is no dictionary.
pub(crate) enum Decoder {}

impl Decoder {
    pub(crate) fn new(_bytes: &[u8]) -> Result<Self, DictionaryError> {
        Err(DictionaryError::NoCodec)
    }

    pub(crate) fn memory(&self) -> usize {
        match *self {}
    }
}

pub(crate) fn train(
    _samples: &[u8],
    _lengths: &[usize],
    _max_len: usize,
) -> Result<Vec<u8>, TrainError> {
    Err(TrainError::NoCodec)
}

pub(crate) fn stated_len(_frame: &[u8]) -> Option<u64> {
    None
}

pub(crate) fn decompress(
    _frame: &[u8],
    _decoder: Option<&Decoder>,
    _len: usize,
    _value: &mut Vec<u8>,
) -> Result<(), UnpackError> {
    Err(UnpackError::Header)
}
