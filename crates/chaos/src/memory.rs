//! How much memory the process has, and whether it grows.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::resident::resident;

const PERIOD: Duration = Duration::from_secs(2);
const HOUR: f64 = 3600.0;
/// D4 looks at what comes after this, in percent of memory per hour.
const WARM: Duration = Duration::from_secs(30 * 60);
const LIMIT: f64 = 0.5;
/// A line through less tells of noise.
const SHORTEST: Duration = Duration::from_secs(10 * 60);

/// Resident memory, in MiB, from the start on.
pub(crate) struct Memory {
    task: JoinHandle<()>,
    samples: std::sync::Arc<std::sync::Mutex<Vec<(f64, f64)>>>,
}

impl Memory {
    pub(crate) fn watch() -> Self {
        let samples = std::sync::Arc::<std::sync::Mutex<Vec<_>>>::default();
        let (writer, start) = (std::sync::Arc::clone(&samples), Instant::now());
        let task = tokio::spawn(async move {
            loop {
                if let (Ok(now), Ok(mut samples)) = (resident(), writer.lock()) {
                    samples.push((start.elapsed().as_secs_f64(), now));
                }
                tokio::time::sleep(PERIOD).await;
            }
        });
        Self { task, samples }
    }

    /// A line for the report, and whether D4 holds as far as this run can tell.
    pub(crate) fn verdict(self) -> (String, bool) {
        self.task.abort();
        let samples = self
            .samples
            .lock()
            .map(|samples| samples.clone())
            .unwrap_or_default();
        let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
            return ("memory: not measured here".to_owned(), true);
        };
        let most = samples
            .iter()
            .fold(0.0_f64, |most, (_, size)| most.max(*size));
        let warm = WARM.as_secs_f64();
        let judged = last.0 - warm >= SHORTEST.as_secs_f64();
        let from = if judged { warm } else { last.0 / 2.0 };
        let late: Vec<_> = samples
            .iter()
            .copied()
            .filter(|(at, _)| *at >= from)
            .collect();
        let percent = growth(&late);
        let text = format!(
            "memory: {:.1} MiB at the start, {:.1} at the end, {most:.1} at most; {percent:+.2} %/h \
             over the last {:.0} s{}",
            first.1,
            last.1,
            last.0 - from,
            if judged {
                ""
            } else {
                " (D4 is judged from 40 min on)"
            },
        );
        (text, !judged || percent <= LIMIT)
    }
}

/// The slope of the line through the samples, in percent of their mean per hour.
fn growth(samples: &[(f64, f64)]) -> f64 {
    let count = samples.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let (middle, size) = (mean(|sample| sample.0), mean(|sample| sample.1));
    let spread: f64 = samples.iter().map(|(at, _)| (at - middle).powi(2)).sum();
    let rise = samples.iter().map(|(at, now)| (at - middle) * (now - size));
    rise.sum::<f64>() / spread / size * 100.0 * HOUR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_per_hour_and_of_the_mean() {
        let flat = [(0.0, 50.0), (10.0, 50.0), (20.0, 50.0)];
        assert!(growth(&flat).abs() < 1e-9);
        // One percent of 100 in a tenth of an hour.
        let grows = [(0.0, 99.5), (360.0, 100.5)];
        assert!((growth(&grows) - 10.0).abs() < 1e-9);
    }
}
