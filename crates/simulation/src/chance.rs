//! All chance of a run: one generator, seeded once.
//!
//! Splitmix64, written out, so that no new version of a library changes what a seed means.

use std::time::Duration;

#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn seeded(seed: u64) -> Self {
        // Neighbouring seeds must not give neighbouring runs.
        let mut chance = Self(seed ^ 0x5851_f42d_4c95_7f2d);
        chance.next();
        chance
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// In `[from, to)`; `from` where that is empty.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % to.saturating_sub(from).max(1)
    }

    /// In `[0, below)`, as an index.
    pub(crate) fn index(&mut self, below: usize) -> usize {
        usize::try_from(self.between(0, below as u64)).unwrap_or(0)
    }

    /// A time in `[from, to)` milliseconds.
    pub(crate) fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.between(from, to))
    }

    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.between(0, 100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    pub(crate) fn pick_clone<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())].clone()
    }
}
