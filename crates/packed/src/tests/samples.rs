//! Values that resemble each other, as lines of a log do.

use std::sync::Arc;

use crate::{DEFAULT_LEVEL, Dictionary, Packer};

/// A line of about 70 bytes; another generation has other words in it.
pub(crate) fn line(generation: usize, n: usize) -> Vec<u8> {
    let client = n.wrapping_mul(2_654_435_761) % 65_536;
    format!(
        "10.{generation}.{}.{} - - \"GET /v{generation}/items/{n} HTTP/1.1\" {} {} \"agent-{generation}/{}\"",
        client / 256,
        client % 256,
        [200, 200, 200, 304, 404][n % 5],
        n * 37 % 5000,
        n % 7,
    )
    .into_bytes()
}

/// A dictionary of the lines of one generation.
pub(crate) fn dictionary(generation: usize) -> Arc<Dictionary> {
    let samples = (0..400).map(|n| line(generation, n));
    let dictionary = Dictionary::train(samples, 2048).expect("400 lines are enough");
    Arc::new(dictionary)
}

/// A packer with this dictionary.
pub(crate) fn packer(dictionary: &Arc<Dictionary>) -> Packer {
    let packer = Packer::with_dictionary(Arc::clone(dictionary), DEFAULT_LEVEL);
    packer.expect("a trained dictionary is usable")
}
