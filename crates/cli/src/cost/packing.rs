//! What objects take once they are packed as an informer packs them.

use std::sync::Arc;

use informer_factory::packed::{DEFAULT_LEVEL, Dictionary, Packed, Packer};

/// The lengths of dictionaries that an informer tries, in bytes.
const LENGTHS: [usize; 2] = [16 * 1024, 64 * 1024];

/// The longer dictionary must make objects smaller by one part of this many.
const WORTH: usize = 12;

/// A collection of fewer objects has no dictionary, unless they are large.
const LEAST_SAMPLES: usize = 256;

/// Enough bytes to train from, however few objects they are.
const SAMPLE_BYTES: usize = 2 * 1024 * 1024;

/// One text of this many is left out of the training, and packed instead.
const HELD_OUT: usize = 8;

/// The result of packing texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing {
    /// The bytes of all texts, packed.
    pub(super) packed: usize,
    /// The bytes of their dictionary, with the packer's tables; 0 without one.
    pub(super) dictionary: usize,
}

/// Packs texts, with a dictionary trained from them if `may_train` and there are enough.
///
/// Objects that a dictionary was trained from pack better than others of the collection. So some of
/// the texts are held out of the training, and all are taken to pack as well as these.
pub(super) fn pack(texts: &[&[u8]], may_train: bool) -> Packing {
    let trained = may_train.then(|| with_dictionary(texts)).flatten();
    trained.unwrap_or_else(|| alone(texts))
}

fn with_dictionary(texts: &[&[u8]]) -> Option<Packing> {
    let mut bytes = 0;
    let (mut learned, mut held_out) = (Vec::new(), Vec::new());
    for (number, &text) in texts.iter().enumerate() {
        match bytes < SAMPLE_BYTES && number % HELD_OUT != HELD_OUT - 1 {
            true => learned.push(text),
            false => held_out.push(text),
        }
        bytes += text.len();
    }
    let is_enough = texts.len() >= LEAST_SAMPLES || bytes >= SAMPLE_BYTES;
    if !is_enough || held_out.is_empty() {
        return None;
    }
    let mut best: Option<Packing> = None;
    for length in LENGTHS {
        let Ok(dictionary) = Dictionary::train(&learned, length).map(Arc::new) else {
            continue;
        };
        let shared = dictionary.memory();
        let Ok(packer) = Packer::with_dictionary(dictionary, DEFAULT_LEVEL) else {
            continue;
        };
        let packed = held_out.iter().map(|text| packer.pack(text).packed_len());
        let (packed, of) = (packed.sum::<usize>(), total(&held_out));
        let packing = Packing {
            packed: (bytes as f64 * packed as f64 / of.max(1) as f64) as usize,
            dictionary: shared + packer.memory(),
        };
        let is_better = |best: Packing| packing.packed < best.packed - best.packed / WORTH;
        if best.is_none_or(is_better) {
            best = Some(packing);
        }
    }
    best
}

/// Packs each text by itself, where that halves it.
fn alone(texts: &[&[u8]]) -> Packing {
    let packer = Packer::new(DEFAULT_LEVEL);
    let packed = texts.iter().map(|text| {
        let packed = packer.pack(text).packed_len();
        match packed * 2 > text.len() {
            true => Packed::stored(text).packed_len(),
            false => packed,
        }
    });
    Packing {
        packed: packed.sum(),
        dictionary: 0,
    }
}

fn total(texts: &[&[u8]]) -> usize {
    texts.iter().map(|text| text.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(count: usize) -> Vec<String> {
        let text = |n: usize| {
            let (uid, image) = (n * 7_919, n % 5);
            format!(
                "{{\"name\":\"web-{n}\",\"uid\":\"{uid:032x}\",\"image\":\"registry/{image}\"}}"
            )
        };
        (0..count).map(text).collect()
    }

    fn packed(texts: &[String], may_train: bool) -> (Packing, usize) {
        let texts: Vec<_> = texts.iter().map(String::as_bytes).collect();
        (pack(&texts, may_train), total(&texts))
    }

    #[test]
    fn many_texts_are_packed_with_a_dictionary_and_few_are_stored() {
        let (stored, bytes) = packed(&texts(LEAST_SAMPLES - 1), true);
        assert!(stored.packed >= bytes, "{stored:?}");
        let (trained, bytes) = packed(&texts(LEAST_SAMPLES), true);
        assert!(trained.packed < bytes / 2, "{trained:?}");
        assert_eq!(stored.dictionary, 0);
        assert!(trained.dictionary > 0, "{trained:?}");
    }

    /// SEC-11: a dictionary would have parts of secrets in it.
    #[test]
    fn nothing_is_trained_without_permission() {
        let (stored, bytes) = packed(&texts(LEAST_SAMPLES), false);
        assert!(stored.packed >= bytes, "{stored:?}");
    }
}
