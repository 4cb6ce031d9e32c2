//! Any samples train a dictionary that can be used, or are refused.
//!
//! Apart from the other property tests, because training takes ten milliseconds.

use std::sync::Arc;

use informer_packed::{DEFAULT_LEVEL, Dictionary, Packer, TrainError};
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
