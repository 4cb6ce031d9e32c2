//! How long one operation takes: the median of several batches of it.
//!
//! The driver of kube-runtime includes this file, so it knows nothing but `measure`.

use std::time::Duration;

use crate::measure::{self, Report};

/// How often it is measured.
const BATCHES: usize = 15;

/// So long is one batch at least.
const LONG_ENOUGH: Duration = Duration::from_millis(10);

/// Reports nanoseconds by the clock and on processors; `run` does it so many times, which is a
/// multiple of `unit`.
pub fn report(report: &mut Report, name: &str, unit: u64, mut run: impl FnMut(u64)) {
    let mut spent = |times| {
        let begin = (measure::now(), measure::cpu());
        run(times);
        (measure::now() - begin.0, measure::cpu() - begin.1)
    };
    let mut times = unit;
    while spent(times).0 < LONG_ENOUGH {
        times *= 2;
    }
    let each = |spent: Duration| spent.as_secs_f64() * 1e9 / times as f64;
    let batches = (0..BATCHES).map(|_| spent(times));
    let (mut wall, mut cpu): (Vec<f64>, Vec<f64>) =
        batches.map(|(wall, cpu)| (each(wall), each(cpu))).unzip();
    report.set(format!("{name}_ns"), median(&mut wall));
    report.set(format!("{name}_cpu_ns"), median(&mut cpu));
}

/// The middle one.
///
/// # Panics
/// When there is none.
pub fn median(all: &mut [f64]) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
