//! Any bytes come back as they were packed: `PROPTEST_CASES` of them, 256 if it is not set.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::{DEFAULT_LEVEL, Packed, Packer};

/// Bytes without a pattern, and short patterns repeated.
fn value() -> impl Strategy<Value = Vec<u8>> {
    let repeated = (vec(any::<u8>(), 1..64), 0..1_000_usize);
    prop_oneof![
        4 => vec(any::<u8>(), 0..600),
        1 => vec(any::<u8>(), 0..6_000),
        2 => repeated.prop_map(|(pattern, times)| pattern.repeat(times)),
    ]
}

fn check(packer: &Packer, value: &[u8]) -> Result<Packed, TestCaseError> {
    let packed = packer.pack(value);
    let unpacked = packed.unpack();
    prop_assert!(
        unpacked.as_deref() == Ok(value),
        "{packed:?}: not what was packed"
    );
    prop_assert_eq!(packed.len(), value.len());
    prop_assert_eq!(packed.is_empty(), value.is_empty());
    prop_assert!(
        packed.packed_len() <= value.len() + 5,
        "the header is all that is added"
    );
    prop_assert_eq!(packed.is_stored(), packed.packed_len() == value.len() + 5);
    if packed.is_stored() {
        prop_assert!(
            packed.dictionary().is_none(),
            "it would be kept alive for nothing"
        );
    }
    // A vector that holds something else, and has more room than is needed.
    let mut reused = vec![7; value.len() / 2 + 40];
    prop_assert_eq!(packed.unpack_into(&mut reused), Ok(()));
    prop_assert!(reused == value, "the former content is left");
    Ok(packed)
}

proptest! {
    #[test]
    fn any_bytes_come_back_without_a_dictionary(value in value()) {
        check(&Packer::new(DEFAULT_LEVEL), &value)?;
    }
}

#[test]
fn boundaries_of_the_length_field_come_back() {
    // A frame states lengths below 256, below 65,792 and beyond in fields of different width.
    for len in [
        0, 1, 2, 255, 256, 257, 65_791, 65_792, 131_072, 131_073, 1_048_576,
    ] {
        for level in [-5, DEFAULT_LEVEL] {
            check(&Packer::new(level), &vec![b'x'; len]).expect("comes back");
        }
    }
}

#[test]
fn a_value_beyond_the_limit_is_stored() {
    let value = vec![b'x'; Packed::MAX_LEN + 1];
    let packed = Packer::new(DEFAULT_LEVEL).pack(&value);
    assert!(packed.is_stored());
    assert_eq!(packed.len(), value.len());
    assert!(packed.unpack().as_deref() == Ok(&value[..]));
}

#[cfg(feature = "zstd")]
mod with_dictionary {
    use std::sync::{Arc, LazyLock};

    use super::*;
    use crate::Dictionary;
    use crate::tests::samples;

    /// Levels from the quickest to the slowest that is usual, and two beyond the ends.
    const LEVELS: [i32; 6] = [i32::MIN, -5, 1, 3, 9, i32::MAX];

    static DICTIONARY: LazyLock<Arc<Dictionary>> = LazyLock::new(|| samples::dictionary(1));

    static PACKERS: LazyLock<[Packer; LEVELS.len()]> = LazyLock::new(|| {
        let packer = |level| Packer::with_dictionary(Arc::clone(&DICTIONARY), level);
        LEVELS.map(|level| packer(level).expect("any level serves"))
    });

    /// Half of them resemble the samples.
    fn likely_value() -> impl Strategy<Value = Vec<u8>> {
        let lines = vec(any::<u16>(), 1..20);
        let lines = lines.prop_map(|all| {
            let lines = all.into_iter().map(|n| samples::line(1, usize::from(n)));
            lines.flatten().collect()
        });
        prop_oneof![value(), lines]
    }

    proptest! {
        #[test]
        fn any_bytes_come_back_at_any_level(value in likely_value(), level in 0..LEVELS.len()) {
            check(&PACKERS[level], &value)?;
            check(&Packer::new(LEVELS[level]), &value)?;
        }
    }

    #[test]
    fn a_mebibyte_comes_back_at_any_level() {
        let long: Vec<u8> = (0..)
            .flat_map(|n| samples::line(1, n))
            .take(1 << 20)
            .collect();
        // Not at the last level, which takes a second.
        for (packer, level) in PACKERS.iter().zip(LEVELS).take(5) {
            check(packer, &long).expect("comes back");
            check(&Packer::new(level), &long).expect("comes back");
        }
    }

    #[test]
    fn a_line_is_smaller_with_a_dictionary_of_its_kind_than_without() {
        let plain = Packer::new(DEFAULT_LEVEL);
        let packer = samples::packer(&DICTIONARY);
        for n in 1000..1100 {
            let line = samples::line(1, n);
            let (packed, without) = (packer.pack(&line), plain.pack(&line));
            assert!(!packed.is_stored());
            assert!(
                packed.packed_len() * 3 < without.packed_len() * 2,
                "{packed:?}, {without:?}"
            );
            assert!(Arc::ptr_eq(
                packed.dictionary().expect("has one"),
                &DICTIONARY
            ));
        }
    }

    #[test]
    fn a_dictionary_made_from_its_bytes_packs_the_same() {
        let again = Dictionary::from_bytes(DICTIONARY.as_bytes()).expect("its own bytes");
        assert_eq!(again.as_bytes(), DICTIONARY.as_bytes());
        let line = samples::line(1, 5000);
        let len = samples::packer(&Arc::new(again)).pack(&line).packed_len();
        assert_eq!(len, samples::packer(&DICTIONARY).pack(&line).packed_len());
    }

    #[test]
    fn no_value_spends_bytes_on_the_id_of_its_dictionary() {
        // As the command `zstd --train` writes it.
        let mut with_id = DICTIONARY.as_bytes().to_vec();
        with_id[4..8].copy_from_slice(&[1, 2, 3, 4]);
        let dictionary = Dictionary::from_bytes(&with_id).expect("only the id differs");
        assert_eq!(dictionary.as_bytes(), DICTIONARY.as_bytes());
        assert_eq!(dictionary.as_bytes()[4..8], [0; 4]);
    }

    #[test]
    fn the_same_samples_train_the_same_dictionary() {
        assert_eq!(samples::dictionary(1).as_bytes(), DICTIONARY.as_bytes());
    }
}
