//! The memory of objects that are packed as an informer packs them.

use informer_factory::packed::{DEFAULT_LEVEL, Packer, Trained};

/// A collection of fewer objects has no dictionary, unless they are large.
const LEAST_SAMPLES: usize = 256;

/// Enough bytes to train from, however few objects they are.
const SAMPLE_BYTES: usize = 2 * 1024 * 1024;

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
/// All texts are taken to pack as well as those that the training left out.
pub(super) fn pack(texts: &[&[u8]], may_train: bool) -> Packing {
    let trained = may_train.then(|| with_dictionary(texts)).flatten();
    trained.unwrap_or_else(|| alone(texts))
}

fn with_dictionary(texts: &[&[u8]]) -> Option<Packing> {
    let mut bytes = 0;
    let samples = texts.iter().take_while(|text| {
        let is_wanted = bytes < SAMPLE_BYTES;
        bytes += text.len();
        is_wanted
    });
    let samples: Vec<&[u8]> = samples.copied().collect();
    if samples.len() < LEAST_SAMPLES && bytes < SAMPLE_BYTES {
        return None;
    }
    let Trained { packer, ratio, .. } = Trained::from_samples(&samples, DEFAULT_LEVEL).ok()?;
    let dictionary = packer.dictionary().map_or(0, |shared| shared.memory());
    Some(Packing {
        packed: (total(texts) as f64 * ratio) as usize,
        dictionary: dictionary + packer.memory(),
    })
}

/// Packs each text by itself, where that halves it.
fn alone(texts: &[&[u8]]) -> Packing {
    let packer = Packer::new(DEFAULT_LEVEL);
    let packed = texts
        .iter()
        .map(|text| packer.pack_or_store(text).packed_len());
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
