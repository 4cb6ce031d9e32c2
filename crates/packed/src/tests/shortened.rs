//! The end of a trained dictionary, as a dictionary.

use std::sync::{Arc, LazyLock};

use super::samples;
use crate::Dictionary;

static LONG: LazyLock<Dictionary> = LazyLock::new(|| trained(16 * 1024));

/// A dictionary of enough lines for any of these lengths.
fn trained(len: usize) -> Dictionary {
    let lines = (0..4000).map(|n| samples::line(1, n));
    Dictionary::train(lines, len).expect("4000 lines are enough")
}

/// Packs lines that the dictionary was not trained from, and unpacks them.
fn packed_len(dictionary: Dictionary) -> usize {
    let packer = samples::packer(&Arc::new(dictionary));
    let packed = (5000..5200).map(|n| {
        let line = samples::line(1, n);
        let packed = packer.pack(&line);
        assert_eq!(packed.unpack().expect("undamaged"), line);
        packed.packed_len()
    });
    packed.sum()
}

#[test]
fn the_end_of_a_dictionary_is_nearly_as_good_as_a_dictionary_of_that_length() {
    let short = LONG.shortened(2048).expect("it is longer");
    assert_eq!(short.as_bytes().len(), 2048);
    let (shortened, trained) = (packed_len(short), packed_len(trained(2048)));
    // The tables count most in values as short as these.
    assert!(shortened * 5 <= trained * 6, "{shortened}, {trained}");
}

#[test]
fn a_dictionary_is_shortened_to_a_length_that_has_tables_and_content() {
    let len = LONG.as_bytes().len();
    let shortened = |len| LONG.shortened(len).map(|short| short.as_bytes().len());
    for not_shorter in [len, len + 1, usize::MAX] {
        assert_eq!(shortened(not_shorter), None);
    }
    for too_short in [0, 1, 12, 64] {
        assert_eq!(shortened(too_short), None);
    }
    assert_eq!(shortened(len - 1), Some(len - 1));
    assert_eq!(shortened(1024), Some(1024));
}

#[test]
fn a_dictionary_with_other_offsets_is_not_shortened() {
    let mut bytes = LONG.as_bytes().to_vec();
    let is_end = |window: &[u8]| window == [1, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0];
    let tables = bytes.windows(12).position(is_end);
    bytes[tables.expect("a trained dictionary has them")] = 2;
    let other = Dictionary::from_bytes(&bytes).expect("other offsets are allowed");
    assert!(other.shortened(2048).is_none());
}
