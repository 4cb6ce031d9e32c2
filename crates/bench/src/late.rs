//! What a handler that is there already notices when another one joins late.
//!
//! Changes come at a rate, each with the time of its publication, so that the age of every piece
//! of news is known. A change counts for a join if it was on its way at any time of it; the oldest
//! news among those is the stall.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::command_line::CommandLine;
use crate::control::Control;
use crate::measure::{self, Report};

/// Changes come before the first join, and after each one until what was late has arrived.
const REST: Duration = Duration::from_secs(1);
/// For how long changes are ordered; the driver ends before.
const ORDERED_SECONDS: u64 = 600;

/// One call of the first handler; both in microseconds, the time as [`measure::stamp`] has it.
#[derive(Clone, Copy, Debug)]
struct Call {
    at: u64,
    age: u64,
}

/// What the first handler saw.
#[derive(Clone, Debug, Default)]
pub struct Witness {
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Witness {
    /// One more call, about news that were published at `stamp`.
    pub fn add(&self, stamp: Option<&str>) {
        let published = stamp.and_then(|text| text.parse().ok());
        if let Some(published) = published {
            let at = measure::stamp();
            let age = at.saturating_sub(published);
            self.lock().push(Call { at, age });
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets handlers join, one after the other, and reports how long the first one had to wait for
/// news. `join` lets one in, and returns when that one knows all objects; `leave` removes it.
///
/// # Errors
/// When the server is gone, one of the two fails, or no change came during a join.
pub async fn run<L>(
    report: &mut Report,
    command_line: &CommandLine,
    witness: &Witness,
    mut join: impl AsyncFnMut() -> Result<L>,
    mut leave: impl AsyncFnMut(L) -> Result<()>,
) -> Result<()> {
    let (rate, control) = (command_line.rate, Control::new(&command_line.server));
    control.change_at(rate * ORDERED_SECONDS, rate)?;
    tokio::time::sleep(REST).await;
    let (mut stalls, mut times, mut quiet) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..command_line.joins {
        witness.lock().clear();
        let before = measure::stamp();
        tokio::time::sleep(REST).await;
        let begin = measure::stamp();
        let late = join().await?;
        let end = measure::stamp();
        tokio::time::sleep(REST).await;
        leave(late).await?;
        let calls = witness.lock();
        quiet.push(oldest(&calls, before, begin).context("no change without a join")?);
        stalls.push(oldest(&calls, begin, end).context("no change during a join")?);
        times.push(end.saturating_sub(begin));
    }
    report.set("stall_us", median(&mut stalls));
    report.set("stall_worst_us", stalls.last().map_or(0.0, |us| *us as f64));
    report.set("quiet_stall_us", median(&mut quiet));
    report.set("join_us", median(&mut times));
    Ok(())
}

/// The oldest news that were on their way between two times.
fn oldest(calls: &[Call], begin: u64, end: u64) -> Option<u64> {
    let during = |call: &&Call| call.at >= begin && call.at.saturating_sub(call.age) <= end;
    calls.iter().filter(during).map(|call| call.age).max()
}

/// Sorts them.
fn median(values: &mut [u64]) -> f64 {
    values.sort_unstable();
    match values {
        [] => f64::NAN,
        _ => values[values.len() / 2] as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(at: u64, age: u64) -> Call {
        Call { at, age }
    }

    #[test]
    fn a_change_counts_if_it_was_on_its_way_during_the_join() {
        let calls = [call(90, 80), call(150, 60), call(205, 10), call(300, 70)];
        assert_eq!(oldest(&calls, 100, 200), Some(60));
        assert_eq!(
            oldest(&calls[2..], 100, 200),
            Some(10),
            "published before its end"
        );
        assert_eq!(oldest(&calls[3..], 100, 200), None);
        assert_eq!(oldest(&calls, 80, 95), Some(80));
    }

    #[test]
    fn what_has_no_stamp_is_not_counted() {
        let witness = Witness::default();
        witness.add(None);
        witness.add(Some("x"));
        assert!(witness.lock().is_empty());
        witness.add(Some("1"));
        assert_eq!(witness.lock().len(), 1);
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&mut [9, 1, 2]), 2.0);
        assert!(median(&mut []).is_nan());
    }
}
