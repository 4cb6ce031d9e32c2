//! Whether numbers grow with time, by the line through them, and how sure that is.

use std::fmt;

const HOUR: f64 = 3_600.0;
/// A slope that is less than so many standard errors may be chance.
const SURE: f64 = 3.0;

/// The line of least squares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trend {
    pub(crate) mean: f64,
    /// From the first point to the last.
    hours: f64,
    /// Per hour.
    slope: f64,
    /// Of the slope.
    error: f64,
}

impl Trend {
    /// Of values by seconds, at least three of them.
    pub(crate) fn of(points: &[(f64, f64)]) -> Self {
        let count = points.len() as f64;
        let average = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
        let (middle, mean) = (average(|point| point.0), average(|point| point.1));
        let spread: f64 = points.iter().map(|(at, _)| (at - middle).powi(2)).sum();
        let rise = points
            .iter()
            .map(|(at, value)| (at - middle) * (value - mean));
        let slope = rise.sum::<f64>() / spread;
        let off = points
            .iter()
            .map(|(at, value)| (value - mean - slope * (at - middle)).powi(2));
        let error = (off.sum::<f64>() / (count - 2.0) / spread).sqrt();
        let ends = points.first().zip(points.last());
        Self {
            mean,
            hours: ends.map_or(0.0, |(first, last)| last.0 - first.0) / HOUR,
            slope: slope * HOUR,
            error: error * HOUR,
        }
    }

    /// By how much it has grown at least, but for chance.
    pub(crate) fn surely_grown(&self) -> f64 {
        (self.slope - SURE * self.error) * self.hours
    }

    /// What so many percent of the mean an hour come to.
    pub(crate) fn percent(&self, percent: f64) -> f64 {
        percent / 100.0 * self.mean * self.hours
    }
}

impl fmt::Display for Trend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            mean, slope, error, ..
        } = self;
        let (slope, doubt) = (100.0 * slope / mean, 100.0 * SURE * error / mean);
        write!(f, "{mean:.3} in the mean, {slope:+.1} +-{doubt:.1} %/h")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A minute apart, with so much more each and noise of 1.
    fn grown(more: f64) -> f64 {
        let noise = [0.3, -1.0, 0.5, 0.9, -0.6, 0.1, -0.8, 1.0, -0.2, -0.3];
        let points: Vec<_> = (0..20_u32)
            .map(|i| {
                let value = 100.0 + more * f64::from(i) + noise[i as usize % noise.len()];
                (60.0 * f64::from(i), value)
            })
            .collect();
        Trend::of(&points).surely_grown()
    }

    #[test]
    fn the_slope_is_per_hour() {
        // One percent of 100 in a tenth of an hour.
        let trend = Trend::of(&[(0.0, 99.5), (180.0, 100.0), (360.0, 100.5)]);
        assert!((trend.slope - 10.0).abs() < 1e-9, "{trend}");
        assert!((trend.surely_grown() - 1.0).abs() < 1e-9, "{trend}");
        assert!((trend.percent(10.0) - 1.0).abs() < 1e-9, "{trend}");
    }

    #[test]
    fn noise_is_no_growth_and_growth_is_seen_through_noise() {
        assert!(grown(0.0) < 0.5 && grown(-0.5) < 0.0);
        assert!(grown(0.5) > 5.0);
    }
}
