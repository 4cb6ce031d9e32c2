//! The numbers that decide when a dictionary is trained.

use std::time::Duration;

const MIB: usize = 1024 * 1024;

/// When dictionaries are trained. Tests use smaller numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DictionarySettings {
    /// Whether there are dictionaries at all.
    pub(crate) is_on: bool,
    /// The number of objects that the first dictionary is trained from.
    pub(crate) first_samples: usize,
    /// The least number of objects that a dictionary is trained from.
    pub(crate) samples: usize,
    /// Enough bytes of samples, however few they are.
    pub(crate) sample_bytes: usize,
    /// The bytes of objects that may wait for the first dictionary.
    pub(crate) waiting_bytes: usize,
    /// The number of objects that one measurement of the ratio is taken from.
    pub(crate) window: usize,
    /// The least time between two trainings.
    pub(crate) pause: Duration,
    /// The number of dictionaries in use.
    pub(crate) generations: usize,
}

impl Default for DictionarySettings {
    fn default() -> Self {
        Self {
            is_on: true,
            // More of them take longer to train from than the list takes to arrive.
            first_samples: 320,
            samples: 256,
            sample_bytes: 2 * MIB,
            waiting_bytes: 16 * MIB,
            window: 1_000,
            pause: Duration::from_secs(600),
            generations: 3,
        }
    }
}

#[cfg(any(test, sim))]
impl DictionarySettings {
    /// Small numbers, so that a test with twenty objects trains and replaces dictionaries.
    pub(crate) fn early() -> Self {
        Self {
            // The fewest that a dictionary can be trained from.
            first_samples: 8,
            samples: 8,
            window: 4,
            pause: Duration::ZERO,
            generations: 2,
            ..Self::default()
        }
    }
}
