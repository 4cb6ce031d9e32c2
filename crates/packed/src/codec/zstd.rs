//! The codec of zstd, with one context for each thread and direction.
//!
//! The functions that take a prepared dictionary for one call are used, and never those that leave
//! a reference to it in a context: a context of a thread outlives every dictionary.

use std::cell::Cell;
use std::thread::LocalKey;

use zstd_safe::{CCtx, CDict, DCtx, DDict};

use crate::error::{DictionaryError, TrainError, UnpackError};

/// The bytes with which every frame begins; packed values go without them.
const MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();

/// The length of the longest header of a frame, with the magic bytes.
const LONGEST_HEADER: usize = 18;

/// The bytes of a buffer that a thread keeps for its next call.
const KEPT: usize = 256 * 1024;

thread_local! {
    static COMPRESSOR: Cell<Option<Context<CCtx<'static>>>> = const { Cell::new(None) };
    static DECOMPRESSOR: Cell<Option<Context<DCtx<'static>>>> = const { Cell::new(None) };
}

/// A context of the library, and a buffer for frames.
struct Context<C> {
    zstd: C,
    frame: Vec<u8>,
}

/// Calls `f` with the context of this thread, or with a new one if the thread has none.
///
/// The context is taken out of its place meanwhile. A thread that is ending has no place any more;
/// each of its calls makes a context. Returns `None` if there is no memory for a context.
fn with_context<C: 'static, R>(
    place: &'static LocalKey<Cell<Option<Context<C>>>>,
    create: fn() -> Option<C>,
    f: impl FnOnce(&mut Context<C>) -> R,
) -> Option<R> {
    let kept = place.try_with(Cell::take).ok().flatten();
    let mut context = match kept {
        Some(context) => context,
        None => Context {
            zstd: create()?,
            frame: Vec::new(),
        },
    };
    let result = f(&mut context);
    context.frame.clear();
    context.frame.shrink_to(KEPT);
    // An error means that the thread is ending, and the context has been freed.
    place
        .try_with(|place| place.set(Some(context)))
        .unwrap_or_default();
    Some(result)
}

/// Compresses values.
pub(crate) enum Encoder {
    Plain { level: i32 },
    Dictionary(CDict<'static>),
}

impl Encoder {
    pub(crate) fn plain(level: i32) -> Self {
        Self::Plain { level }
    }

    pub(crate) fn with_dictionary(bytes: &[u8], level: i32) -> Result<Self, DictionaryError> {
        let dictionary = CDict::try_create(bytes, level);
        let refused = DictionaryError::Refused { len: bytes.len() };
        dictionary.map(Self::Dictionary).ok_or(refused)
    }

    /// Returns the bytes of the prepared dictionary, which has a copy of the dictionary's bytes.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Plain { .. } => 0,
            Self::Dictionary(dictionary) => dictionary.sizeof(),
        }
    }

    /// Calls `use_frame` with the compressed value, without the magic bytes.
    ///
    /// Returns `None` if the value cannot be compressed, for which memory is the only reason.
    pub(crate) fn compress<R>(
        &self,
        value: &[u8],
        use_frame: impl FnOnce(&[u8]) -> R,
    ) -> Option<R> {
        let compressed = with_context(&COMPRESSOR, CCtx::try_create, |context| {
            let frame = &mut context.frame;
            frame.reserve(zstd_safe::compress_bound(value.len()));
            let written = match self {
                Self::Plain { level } => context.zstd.compress(frame, value, *level),
                Self::Dictionary(dictionary) => {
                    context.zstd.compress_using_cdict(frame, value, dictionary)
                }
            };
            written.ok()?;
            frame.strip_prefix(&MAGIC).map(use_frame)
        });
        compressed.flatten()
    }
}

/// A dictionary, prepared for decompression.
pub(crate) struct Decoder(DDict<'static>);

impl Decoder {
    pub(crate) fn new(bytes: &[u8]) -> Result<Self, DictionaryError> {
        let refused = DictionaryError::Refused { len: bytes.len() };
        DDict::try_create(bytes).map(Self).ok_or(refused)
    }

    pub(crate) fn memory(&self) -> usize {
        self.0.sizeof()
    }
}

/// Trains a dictionary of at most `max_len` bytes from samples that lie one after the other.
pub(crate) fn train(
    samples: &[u8],
    lengths: &[usize],
    max_len: usize,
) -> Result<Vec<u8>, TrainError> {
    let mut dictionary = Vec::with_capacity(max_len);
    let trained = zstd_safe::train_from_buffer(&mut dictionary, samples, lengths);
    trained.map_err(|code| TrainError::Samples {
        samples: lengths.len(),
        bytes: samples.len(),
        reason: zstd_safe::get_error_name(code),
    })?;
    Ok(dictionary)
}

/// Returns the length of the unpacked value that a frame states.
pub(crate) fn stated_len(frame: &[u8]) -> Option<u64> {
    let mut header = [0; LONGEST_HEADER];
    let (magic, rest) = header.split_at_mut(MAGIC.len());
    magic.copy_from_slice(&MAGIC);
    let len = rest.len().min(frame.len());
    rest[..len].copy_from_slice(&frame[..len]);
    let header = &header[..MAGIC.len() + len];
    zstd_safe::get_frame_content_size(header).ok().flatten()
}

/// Decompresses a frame of `len` bytes into an empty vector with room for them.
pub(crate) fn decompress(
    frame: &[u8],
    decoder: Option<&Decoder>,
    len: usize,
    value: &mut Vec<u8>,
) -> Result<(), UnpackError> {
    let decompressed = with_context(&DECOMPRESSOR, DCtx::try_create, |context| {
        let whole = &mut context.frame;
        whole.extend_from_slice(&MAGIC);
        whole.extend_from_slice(frame);
        // The library would also decompress what follows the frame.
        if zstd_safe::find_frame_compressed_size(whole) != Ok(whole.len()) {
            let reason = "its end is not where its blocks end";
            return Err(UnpackError::Frame { reason });
        }
        let written = match decoder {
            None => context.zstd.decompress(value, whole),
            Some(decoder) => context
                .zstd
                .decompress_using_ddict(value, whole, &decoder.0),
        };
        written.map_err(|code| UnpackError::Frame {
            reason: zstd_safe::get_error_name(code),
        })
    });
    match decompressed {
        None => Err(UnpackError::OutOfMemory { len }),
        Some(written) => written.map(drop),
    }
}
