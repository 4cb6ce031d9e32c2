//! How late things were: the largest lag exactly, the others to a fifth, in constant memory.

use std::time::Duration;

/// Four buckets for each doubling of a microsecond count; 64 doublings are all there are.
const BUCKETS: usize = 64 * 4;

/// A distribution of lags.
#[derive(Clone)]
pub(super) struct Lags {
    buckets: [u64; BUCKETS],
    count: u64,
    max: Duration,
}

impl Default for Lags {
    fn default() -> Self {
        Self {
            buckets: [0; BUCKETS],
            count: 0,
            max: Duration::ZERO,
        }
    }
}

impl Lags {
    pub(super) fn add(&mut self, lag: Duration) {
        let micros = u64::try_from(lag.as_micros()).unwrap_or(u64::MAX);
        self.buckets[bucket(micros)] += 1;
        self.count += 1;
        self.max = self.max.max(lag);
    }

    pub(super) fn max(&self) -> Duration {
        self.max
    }

    /// The lag that this share of all was below, at most a quarter too long; zero if there is none.
    pub(super) fn quantile(&self, share: f64) -> Duration {
        let wanted = (self.count as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (index, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                return Duration::from_micros(upper_end(index)).min(self.max);
            }
        }
        self.max
    }
}

fn bucket(micros: u64) -> usize {
    if micros < 4 {
        return micros as usize;
    }
    let doubling = micros.ilog2();
    let quarter = (micros >> (doubling - 2)) & 3;
    (doubling as usize - 1) * 4 + quarter as usize
}

/// The largest number of microseconds in a bucket.
fn upper_end(bucket: usize) -> u64 {
    if bucket < 4 {
        return bucket as u64;
    }
    let (doubling, quarter) = (bucket / 4 + 1, bucket as u64 % 4);
    let width = 1_u64 << (doubling - 2);
    ((4 + quarter) * width).saturating_add(width - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lag_falls_into_a_bucket_that_ends_at_most_a_quarter_above_it() {
        let mut last = 0;
        for micros in (0..10_000).chain([1 << 20, 1 << 40, u64::MAX]) {
            let index = bucket(micros);
            assert!(index >= last && index < BUCKETS, "{micros}");
            let end = upper_end(index);
            assert!(
                end >= micros && end - micros <= micros / 4,
                "{micros} in {index} to {end}"
            );
            last = index;
        }
    }

    #[test]
    fn quantiles_are_in_order_and_the_largest_is_exact() {
        let mut lags = Lags::default();
        assert_eq!(lags.quantile(0.5), Duration::ZERO);
        for millis in 1..=1_000 {
            lags.add(Duration::from_millis(millis));
        }
        let (half, most) = (lags.quantile(0.5), lags.quantile(0.99));
        assert!(
            half >= Duration::from_millis(500) && half <= Duration::from_millis(625),
            "{half:?}"
        );
        assert!(most > half && most <= lags.max());
        assert_eq!(lags.max(), Duration::from_secs(1));
        assert_eq!(lags.quantile(1.0), lags.max());
    }
}
