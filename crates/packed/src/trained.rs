//! Trains a dictionary of the length that gains most.

use std::sync::Arc;

use crate::dictionary::{Dictionary, Joined};
use crate::error::TrainError;
use crate::packer::Packer;

/// The lengths that are tried, in bytes. Values made from few templates need no more than the
/// first; values of many templates pack a quarter smaller with the last.
const LENGTHS: [usize; 2] = [16 * 1024, 64 * 1024];

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
    /// Dictionaries of 16 and of 64 KiB are trained, and the longer one is kept only if values pack
    /// a twelfth smaller with it. One sample in eight is not trained from but packed, because
    /// samples that a dictionary was trained from pack better than others. A few hundred samples
    /// serve well, and take about a hundred milliseconds.
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
        let numbered = || samples.iter().map(S::as_ref).enumerate();
        let is_held_out = |number: usize| number % HELD_OUT == HELD_OUT - 1;
        let learned = numbered().filter_map(|(n, text)| (!is_held_out(n)).then_some(text));
        let learned = Joined::new(learned);
        let held_out = || numbered().filter_map(|(n, text)| is_held_out(n).then_some(text));
        let bytes: usize = held_out().map(<[u8]>::len).sum();
        if bytes == 0 {
            return Err(TrainError::Samples {
                samples: samples.len(),
                bytes: learned.bytes.len(),
                reason: "none is left to measure the dictionary with",
            });
        }
        let train = |length| -> Result<(Packer, usize), TrainError> {
            let dictionary = Arc::new(Dictionary::from_joined(&learned, length)?);
            let packer = Packer::with_dictionary(dictionary, level)?;
            let packed: usize = held_out().map(|text| packer.pack(text).packed_len()).sum();
            Ok((packer, packed))
        };
        let is_better = |packed: usize, best: usize| packed < best - best / WORTH;
        let best = LENGTHS
            .map(train)
            .into_iter()
            .reduce(|best, next| match (best, next) {
                (Ok(best), Ok(next)) => Ok(if is_better(next.1, best.1) {
                    next
                } else {
                    best
                }),
                (best, next) => best.or(next),
            });
        let (packer, packed) = best.expect("there are lengths to try")?;
        Ok(Self {
            packer,
            ratio: packed as f64 / bytes as f64,
        })
    }
}
