//! Reproducible chance: a seed in, the same numbers out, on every machine.
//!
//! Spreads delays and watch timeouts, so that clients which failed together do not return together.
//! Not for secrets. Which generator it is may change; that a seed replays a run may not.

// FM-11

use std::time::Duration;

/// A small generator (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `bound`; 0 if there is none. The bias is below `bound / 2^64`.
    fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next()) * u128::from(bound);
        u64::try_from(wide >> 64).expect("the upper half of a product of two u64")
    }

    /// A delay in `[from, to)`, or `from` where that is empty.
    pub(crate) fn between(&mut self, from: Duration, to: Duration) -> Duration {
        let width = to.saturating_sub(from).as_nanos();
        let width = u64::try_from(width).unwrap_or(u64::MAX);
        from.saturating_add(Duration::from_nanos(self.below(width)))
    }

    /// Whole seconds in `[from, to]`, at least one.
    pub(crate) fn whole_seconds(&mut self, from: Duration, to: Duration) -> Duration {
        let first = from.as_secs().max(1);
        let width = to.as_secs().saturating_sub(first).saturating_add(1);
        Duration::from_secs(first.saturating_add(self.below(width)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RL-02: both ends of the range are drawn, nothing outside is.
    #[test]
    fn whole_seconds_cover_the_range_and_no_more() {
        let mut chance = Chance::seeded(7);
        let (from, to) = (Duration::from_secs(3), Duration::from_millis(5900));
        let mut seen = [0_u32; 8];
        for _ in 0..1000 {
            let drawn = chance.whole_seconds(from, to);
            assert_eq!(drawn.subsec_nanos(), 0);
            seen[usize::try_from(drawn.as_secs()).expect("small")] += 1;
        }
        assert_eq!(seen.iter().sum::<u32>(), seen[3] + seen[4] + seen[5]);
        assert!(seen[3..=5].iter().all(|&count| count > 250), "{seen:?}");
    }

    /// RL-02: a minimum below a second, or above the maximum, still gives a usable timeout.
    #[test]
    fn odd_ranges_give_the_lower_end() {
        let mut chance = Chance::seeded(1);
        let zero = Duration::ZERO;
        assert_eq!(chance.whole_seconds(zero, zero), Duration::from_secs(1));
        let nine = Duration::from_secs(9);
        assert_eq!(chance.whole_seconds(nine, zero), nine);
        assert_eq!(chance.between(nine, zero), nine);
    }
}
