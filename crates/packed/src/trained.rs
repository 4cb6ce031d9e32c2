//! Trains a dictionary of the length that gains most.

use std::sync::Arc;

use crate::dictionary::{Dictionary, Joined};
use crate::error::{DictionaryError, TrainError};
use crate::packer::Packer;

/// The bytes of a dictionary that serves values made from few templates.
const SHORT: usize = 16 * 1024;

/// The bytes of a longer one. Values of many templates pack a quarter smaller with it.
const LONG: usize = 64 * 1024;

/// A longer dictionary is kept only if it makes values a twelfth smaller.
const WORTH: usize = 12;

/// One sample in eight is not trained from; packing it compares the dictionaries.
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
    /// A dictionary of 64 KiB is trained. Only the 16 KiB of it that gain most are kept, unless
    /// values pack a twelfth smaller with all of it. One sample in eight is not trained from but
    /// packed, because samples that a dictionary was trained from pack better than others. A few
    /// hundred samples serve well, and take about fifty milliseconds.
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
        let measured = |dictionary| -> Result<(Packer, usize), DictionaryError> {
            let packer = Packer::with_dictionary(Arc::new(dictionary), level)?;
            let packed = held_out().map(|text| packer.pack(text).packed_len()).sum();
            Ok((packer, packed))
        };
        let long = Dictionary::from_joined(&learned, LONG)?;
        let short = long.shortened(SHORT);
        let long = measured(long)?;
        let (packer, packed) = match short.and_then(|short| measured(short).ok()) {
            Some(short) if long.1 >= short.1 - short.1 / WORTH => short,
            _ => long,
        };
        Ok(Self {
            packer,
            ratio: packed as f64 / bytes as f64,
        })
    }
}
