//! Trains a dictionary from samples, of the length that gains most.

use std::sync::Arc;

use informer_packed::{DEFAULT_LEVEL, Dictionary, Packer};

/// The lengths that are tried, in bytes. Objects made from few templates need no more than the
/// first; objects of many templates pack a quarter smaller with the last.
const LENGTHS: [usize; 2] = [16 * 1024, 64 * 1024];

/// A longer dictionary must make objects smaller by one part of this many to be worth its memory.
const WORTH: usize = 12;

/// One sample of this many is left out of the training, and packed to compare dictionaries.
const HELD_OUT: usize = 8;

/// A packer with a new dictionary.
pub(super) struct Trained {
    pub(super) packer: Packer,
    /// The packed bytes for each byte of samples that were not trained from.
    pub(super) ratio: f64,
}

/// Trains a dictionary; `None` if the samples have nothing in common.
pub(super) fn train(samples: &[Box<[u8]>]) -> Option<Trained> {
    let is_held_out = |number: usize| number % HELD_OUT == HELD_OUT - 1;
    let numbered = || samples.iter().enumerate();
    let held_out = || {
        let held_out = numbered().filter(|(number, _)| is_held_out(*number));
        held_out.map(|(_, sample)| sample)
    };
    let mut best: Option<(Packer, usize)> = None;
    for length in LENGTHS {
        let learned = numbered().filter(|(number, _)| !is_held_out(*number));
        let trained = Dictionary::train(learned.map(|(_, sample)| sample), length);
        let Ok(packer) = trained.map(Arc::new).map(with_dictionary) else {
            continue;
        };
        let Some(packer) = packer else { continue };
        let packed = held_out()
            .map(|sample| packer.pack(sample).packed_len())
            .sum();
        let is_better = |best: usize| packed < best - best / WORTH;
        if best.as_ref().is_none_or(|(_, best)| is_better(*best)) {
            best = Some((packer, packed));
        }
    }
    let bytes: usize = held_out().map(|sample| sample.len()).sum();
    best.map(|(packer, packed)| Trained {
        packer,
        ratio: packed as f64 / bytes.max(1) as f64,
    })
}

fn with_dictionary(dictionary: Arc<Dictionary>) -> Option<Packer> {
    Packer::with_dictionary(dictionary, DEFAULT_LEVEL).ok()
}
