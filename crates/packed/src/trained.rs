//! Trains a dictionary of the length that gains most.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};

use crate::dictionary::Dictionary;
use crate::error::TrainError;
use crate::packer::Packer;

/// The lengths that are tried, in bytes. Values made from few templates need no more than the
/// short one; values of many templates pack a quarter smaller with the long one.
const SHORT: usize = 16 * 1024;
const LONG: usize = 64 * 1024;

/// A longer dictionary must make values smaller by one part of this many to be worth its memory.
const WORTH: usize = 12;

/// One sample of this many is left out of the training, and packed to compare dictionaries.
const HELD_OUT: usize = 8;

/// A packer with a dictionary that was trained from samples of a collection.
#[derive(Debug)]
#[non_exhaustive]
pub struct Trained {
    /// Packs values of the collection.
    pub packer: Packer,
    /// The packed bytes for each byte of a value, as measured with samples that were not trained
    /// from. Values of the same kind pack as well as these.
    pub ratio: f64,
}

impl Trained {
    /// Trains a packer for values like the samples, at a level as for [`Packer::new`].
    ///
    /// Dictionaries of 16 and of 64 KiB are trained, at the same time on two threads, and the longer
    /// one is kept only if values pack a twelfth smaller with it. One sample in eight is not trained from but packed, because
    /// samples that a dictionary was trained from pack better than others. A few hundred samples
    /// serve well, and take some fifty milliseconds.
    ///
    /// # Errors
    ///
    /// As of [`Dictionary::train`]; also if there are fewer than eight samples.
    ///
    /// ```
    /// # #[cfg(feature = "zstd")] {
    /// use informer_packed::{DEFAULT_LEVEL, Trained};
    ///
    /// let line = |n: usize| format!("GET /shop/items/{n} 200 {} \"Mozilla/5.0\"", n * 37 % 5000);
    /// let samples: Vec<String> = (0..500).map(line).collect();
    /// let trained = Trained::from_samples(&samples, DEFAULT_LEVEL)?;
    /// assert!(trained.ratio < 0.8);
    /// assert!(trained.packer.dictionary().is_some());
    /// # }
    /// # Ok::<(), informer_packed::TrainError>(())
    /// ```
    pub fn from_samples<S: AsRef<[u8]>>(samples: &[S], level: i32) -> Result<Self, TrainError> {
        let samples: Vec<&[u8]> = samples.iter().map(S::as_ref).collect();
        let numbered = || samples.iter().copied().enumerate();
        let is_held_out = |number: usize| number % HELD_OUT == HELD_OUT - 1;
        let learned = || numbered().filter_map(|(n, text)| (!is_held_out(n)).then_some(text));
        let held_out = || numbered().filter_map(|(n, text)| is_held_out(n).then_some(text));
        let bytes: usize = held_out().map(<[u8]>::len).sum();
        if bytes == 0 {
            return Err(TrainError::Samples {
                samples: samples.len(),
                bytes: learned().map(<[u8]>::len).sum(),
                reason: "none is left to measure the dictionary with",
            });
        }
        let train = |length| -> Result<(Packer, usize), TrainError> {
            let dictionary = Arc::new(Dictionary::train(learned(), length)?);
            let packer = Packer::with_dictionary(dictionary, level)?;
            let packed: usize = held_out().map(|text| packer.pack(text).packed_len()).sum();
            Ok((packer, packed))
        };
        let (short, long) = both(|| train(SHORT), || train(LONG));
        let is_better = |packed: usize, best: usize| packed < best - best / WORTH;
        let (packer, packed) = match (short, long) {
            (Ok(short), Ok(long)) if is_better(long.1, short.1) => long,
            (Ok(short), Ok(_)) => short,
            (short, long) => short.or(long)?,
        };
        Ok(Self {
            packer,
            ratio: packed as f64 / bytes as f64,
        })
    }
}

/// Runs two functions, one of them on a thread of its own if the system has one.
fn both<R: Send>(one: impl FnOnce() -> R + Send, other: impl FnOnce() -> R) -> (R, R) {
    // A thread that cannot be made has not taken the function.
    let mut waiting = Some(one);
    let waiting = &mut waiting;
    let (spawned, other) = thread::scope(|scope| {
        let run = || waiting.take().map(|one| one());
        let spawned = thread::Builder::new().spawn_scoped(scope, run);
        let other = other();
        let joined = spawned.ok().map(ScopedJoinHandle::join);
        (joined, other)
    });
    match spawned {
        Some(Ok(Some(one))) => (one, other),
        Some(Err(panic)) => resume_unwind(panic),
        Some(Ok(None)) | None => {
            let one = waiting.take().expect("no thread has taken it");
            (one(), other)
        }
    }
}
