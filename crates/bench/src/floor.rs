//! How late an otherwise idle thread wakes while latency is measured: the floor of the machine.
//!
//! The thread sleeps for a millisecond at a time. Its lateness includes the slack of the kernel's
//! timers (50 us), and the time for which the kernel or the host of a virtual machine runs
//! something else. A latency of the same size says nothing about the program.
//!
//! The driver of kube-runtime includes this file, so it depends on `measure` only.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Result, anyhow};

use crate::measure::{self, Report};

/// How long the thread sleeps at a time.
const PAUSE: Duration = Duration::from_millis(1);

/// The thread, which runs until [`finish`](Self::finish).
#[derive(Debug)]
pub struct Floor {
    stop: Sender<()>,
    thread: JoinHandle<Vec<Duration>>,
}

impl Floor {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system has no thread.
    pub fn start() -> Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let sleep = move || {
            let mut lateness = Vec::new();
            let mut begin = measure::now();
            while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                let end = measure::now();
                lateness.push(end.saturating_sub(begin + PAUSE));
                begin = end;
            }
            lateness
        };
        let thread = thread::Builder::new().name("floor".to_owned());
        let thread = thread.spawn(sleep)?;
        Ok(Self { stop, thread })
    }

    /// Ends the thread, and reports the 99th percentile and the maximum of its lateness.
    ///
    /// # Errors
    /// When the thread has never woken.
    pub fn finish(self, report: &mut Report) -> Result<()> {
        drop(self.stop);
        let ended = self.thread.join();
        let mut lateness = ended.map_err(|_| anyhow!("the idle thread has panicked"))?;
        lateness.sort_unstable();
        let at = lateness.len() * 99 / 100;
        let (Some(p99), Some(max)) = (lateness.get(at), lateness.last()) else {
            return Err(anyhow!("the idle thread has never woken"));
        };
        report.set("floor_p99_us", p99.as_secs_f64() * 1e6);
        report.set("floor_max_us", max.as_secs_f64() * 1e6);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_reported_once_the_thread_has_woken() {
        let mut report = Report::new("none");
        let (stop, stopped) = mpsc::channel();
        let woken = |late: u64| Duration::from_micros(late);
        let thread = thread::spawn(move || {
            drop(stopped);
            (1..=200).map(woken).collect()
        });
        let floor = Floor { stop, thread };
        floor.finish(&mut report).expect("the thread has woken");
        assert_eq!(report.metrics["floor_p99_us"], 199.0);
        assert_eq!(report.metrics["floor_max_us"], 200.0);
        let (stop, _stopped) = mpsc::channel();
        let thread = thread::spawn(Vec::new);
        let never = Floor { stop, thread };
        assert!(never.finish(&mut report).is_err());
    }
}
