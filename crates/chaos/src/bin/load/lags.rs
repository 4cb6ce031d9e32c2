//! How late things were: a count for each size, so that millions of them take no memory.

use std::time::Duration;

/// Sizes that are told apart within a doubling, so that a percentile is at most 1/32 too high.
const STEPS: u64 = 32;
/// Microseconds below which each has a count of its own.
const EXACT: u64 = 2 * STEPS;

/// A histogram of microseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lags {
    counts: Vec<u64>,
    most: u64,
}

impl Lags {
    pub(crate) fn add(&mut self, lag: Duration) {
        let micros = u64::try_from(lag.as_micros()).unwrap_or(u64::MAX);
        let place = place(micros);
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
        self.most = self.most.max(micros);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.most = self.most.max(other.most);
    }

    /// In milliseconds, what so many percent do not exceed.
    pub(crate) fn percentile(&self, percent: u64) -> f64 {
        let all: u64 = self.counts.iter().sum();
        let wanted = (all * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        found.map_or(0, highest).min(self.most) as f64 / 1_000.0
    }
}

/// Where a size is counted.
fn place(micros: u64) -> usize {
    let shift = micros.max(EXACT).ilog2() - EXACT.ilog2() + u32::from(micros >= EXACT);
    let place = u64::from(shift) * STEPS + (micros >> shift);
    usize::try_from(place).expect("some thousands")
}

/// The greatest size that is counted there.
fn highest(place: usize) -> u64 {
    let place = place as u64;
    let shift = (place / STEPS).saturating_sub(1);
    let first = place - shift * STEPS;
    (first << shift) + (1 << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_counted_where_it_belongs() {
        let mut before = None;
        for micros in (0..5_000).chain([1 << 20, (1 << 20) + 1, 1 << 40]) {
            let place = place(micros);
            let (high, rest) = (highest(place), micros / STEPS);
            assert!(high >= micros && high <= micros + rest, "{micros}: {high}");
            assert!(before <= Some(place), "{micros}");
            before = Some(place);
        }
    }

    #[test]
    fn percentiles_are_those_of_all() {
        let mut halves = [Lags::default(), Lags::default()];
        for micros in 1..=50 {
            halves[usize::from(micros > 25)].add(Duration::from_micros(micros));
        }
        let [mut all, second] = halves;
        all.merge(&second);
        assert_eq!(all.percentile(50), 0.025);
        assert_eq!(all.percentile(100), 0.05);
        assert_eq!(Lags::default().percentile(99), 0.0);
    }
}
