//! Why a dictionary could not be made, or a value not unpacked.

/// Why no dictionary could be trained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// The trainer found no dictionary in these samples, or not enough of them.
    #[error(
        "cannot train a dictionary from {samples} samples of {bytes} bytes: {reason}; \
         give more samples, about a hundred times the dictionary's size in all"
    )]
    Samples {
        /// The number of samples.
        samples: usize,
        /// The bytes of all samples together.
        bytes: usize,
        /// The reason that the trainer gives.
        reason: &'static str,
    },
    /// The dictionary that was trained cannot be used.
    #[error("cannot use the trained dictionary")]
    Dictionary(#[from] DictionaryError),
    /// The crate was built without the feature `zstd`.
    #[error("cannot train a dictionary: informer-packed was built without its feature `zstd`")]
    NoCodec,
}

/// Why bytes cannot be used as a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DictionaryError {
    /// The bytes do not begin as a trained dictionary does.
    #[error("cannot use {len} bytes as a dictionary: they are not a trained dictionary")]
    Untrained {
        /// The number of bytes.
        len: usize,
    },
    /// The codec refuses the dictionary: its tables are damaged, or there is no memory for it.
    #[error("cannot use a dictionary of {len} bytes: its tables are damaged, or memory is short")]
    Refused {
        /// The number of bytes.
        len: usize,
    },
    /// The crate was built without the feature `zstd`.
    #[error("cannot use a dictionary: informer-packed was built without its feature `zstd`")]
    NoCodec,
}

/// Why a value could not be unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnpackError {
    /// The header is cut off, is of no known kind, or states no length.
    #[error("cannot unpack a value: its header is damaged")]
    Header,
    /// The header states more bytes than any packer packs; nothing was allocated.
    #[error("cannot unpack a value: it states a length of {stated} bytes; the maximum is {max}")]
    TooLong {
        /// The stated length.
        stated: u64,
        /// [`Packed::MAX_LEN`](crate::Packed::MAX_LEN).
        max: usize,
    },
    /// The compressed bytes cannot be decoded.
    #[error("cannot unpack a value: its compressed bytes are damaged: {reason}")]
    Frame {
        /// The reason that the codec gives.
        reason: &'static str,
    },
    /// The bytes were decoded, and are not those that were packed.
    #[error("cannot unpack a value: the checksum of its bytes does not match")]
    Checksum,
    /// There is no memory for the unpacked bytes or for the codec's context.
    #[error("cannot unpack a value: no memory for {len} bytes")]
    OutOfMemory {
        /// The length of the unpacked bytes.
        len: usize,
    },
}
