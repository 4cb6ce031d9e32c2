//! Any samples train a dictionary that can be used, or are refused.
//!
//! Apart from the other property tests, because training takes ten milliseconds.

use std::sync::Arc;

use informer_packed::{DEFAULT_LEVEL, Dictionary, Packer, TrainError, Trained};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_samples_train_a_dictionary_or_are_refused(
        samples in vec(vec(any::<u8>(), 0..40), 0..60),
        repeated in 1..20_usize,
        max_len in prop_oneof![0..3000_usize, Just(usize::MAX)],
        value in vec(any::<u8>(), 0..600),
    ) {
        let all = samples.iter().cycle().take(samples.len() * repeated);
        match Dictionary::train(all, max_len) {
            Ok(dictionary) => {
                prop_assert!(dictionary.as_bytes().len() <= max_len);
                prop_assert!(dictionary.memory() > dictionary.as_bytes().len());
                let packer = Packer::with_dictionary(Arc::new(dictionary), DEFAULT_LEVEL);
                let packer = packer.expect("a trained dictionary is usable");
                prop_assert!(packer.memory() > Packer::new(DEFAULT_LEVEL).memory());
                for value in samples.iter().chain([&value]) {
                    let unpacked = packer.pack(value).unpack();
                    prop_assert_eq!(unpacked.as_ref(), Ok(value));
                }
            }
            Err(TrainError::Samples { samples: number, bytes, .. }) => {
                prop_assert_eq!(number, samples.len() * repeated);
                let len: usize = samples.iter().map(Vec::len).sum();
                prop_assert_eq!(bytes, len * repeated);
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

/// Values of a number of templates, each of 1,500 bytes that resemble nothing else.
fn of_templates(templates: u64) -> Vec<Vec<u8>> {
    let mut seed = 7_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as u8
    };
    let mut text = |len: usize| (0..len).map(|_| next()).collect::<Vec<u8>>();
    let templates: Vec<_> = (0..templates).map(|_| text(1_500)).collect();
    let value = |n: usize| {
        let template = &templates[n % templates.len()];
        [template.as_slice(), n.to_string().as_bytes()].concat()
    };
    (0..400).map(value).collect()
}

#[test]
fn the_longer_dictionary_is_for_values_that_need_it() -> Result<(), TrainError> {
    let length = |templates| -> Result<(usize, f64), TrainError> {
        let trained = Trained::from_samples(&of_templates(templates), DEFAULT_LEVEL)?;
        let dictionary = trained.packer.dictionary().expect("it was trained");
        Ok((dictionary.as_bytes().len(), trained.ratio))
    };
    let (few, ratio) = length(3)?;
    assert!(few <= 16 * 1024 && ratio < 0.1, "{few} {ratio}");
    let (many, ratio) = length(25)?;
    assert!(many > 16 * 1024 && ratio < 0.5, "{many} {ratio}");
    Ok(())
}

#[test]
fn ratio_is_that_of_values_that_were_not_trained_from() -> Result<(), TrainError> {
    let samples = of_templates(3);
    let trained = Trained::from_samples(&samples, DEFAULT_LEVEL)?;
    let others = of_templates(3).into_iter().skip(300);
    let (mut bytes, mut packed) = (0, 0);
    for value in others {
        bytes += value.len();
        packed += trained.packer.pack(&value).packed_len();
    }
    let ratio = packed as f64 / bytes as f64;
    assert!((0.9..1.1).contains(&(ratio / trained.ratio)), "{ratio}");
    Ok(())
}

#[test]
fn too_few_samples_are_refused() {
    for samples in [&of_templates(1)[..7], &[]] {
        let refused = Trained::from_samples(samples, DEFAULT_LEVEL);
        assert!(
            matches!(refused, Err(TrainError::Samples { .. })),
            "{refused:?}"
        );
    }
}
