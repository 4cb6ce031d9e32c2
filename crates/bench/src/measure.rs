//! What a program used: time by the clock, time on processors, memory; and the report of it.
//!
//! The driver of kube-runtime includes this file, so it knows no other module.

#![allow(dead_code, reason = "each program uses a part of it")]

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::Serialize;

/// What one driver found out, printed as one line of JSON.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Who was measured.
    pub peer: &'static str,
    /// Name and unit of each figure, such as `sync_cpu_s`.
    pub metrics: BTreeMap<String, f64>,
}

impl Report {
    /// A report without figures.
    pub fn new(peer: &'static str) -> Self {
        Self {
            peer,
            metrics: BTreeMap::new(),
        }
    }

    /// Adds one figure.
    pub fn set(&mut self, name: impl Into<String>, value: f64) {
        self.metrics.insert(name.into(), value);
    }

    /// Adds what was used between two marks, by us and by the server.
    pub fn spent(&mut self, phase: &str, begin: Mark, end: Mark) {
        self.set(format!("{phase}_wall_s"), seconds(end.wall, begin.wall));
        self.set(format!("{phase}_cpu_s"), seconds(end.cpu, begin.cpu));
        let server = end.server_cpu_s - begin.server_cpu_s;
        self.set(format!("{phase}_server_cpu_s"), server);
    }

    /// Prints it.
    pub fn print(&self) {
        println!("{}", serde_json::to_string(self).expect("figures are JSON"));
    }
}

fn seconds(end: Duration, begin: Duration) -> f64 {
    end.saturating_sub(begin).as_secs_f64()
}

/// The clocks at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// By the clock.
    pub wall: Duration,
    /// On processors, by all our threads.
    pub cpu: Duration,
    /// On processors, by the server.
    pub server_cpu_s: f64,
}

impl Mark {
    /// Now. The server is asked before, so that asking is not in what is measured afterwards.
    pub fn now(server_cpu_s: f64) -> Self {
        Self {
            wall: now(),
            cpu: cpu(),
            server_cpu_s,
        }
    }
}

/// A clock that never goes back.
pub fn now() -> Duration {
    since_epoch(clock_gettime(ClockId::Monotonic))
}

/// Time on processors, by all threads of this program.
pub fn cpu() -> Duration {
    since_epoch(clock_gettime(ClockId::ProcessCPUTime))
}

/// Time on processors, by the calling thread.
pub fn thread_cpu() -> Duration {
    since_epoch(clock_gettime(ClockId::ThreadCPUTime))
}

/// How often the calling thread gave its core away because it could not go on.
pub fn waits() -> u64 {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = line(&status, "voluntary_ctxt_switches:");
    line.and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// The time of day in microseconds, its last ten digits: all programs of a machine agree on it.
pub fn stamp() -> u64 {
    let time = since_epoch(clock_gettime(ClockId::Realtime));
    u64::try_from(time.as_micros() % 10_000_000_000).expect("ten digits are few")
}

fn since_epoch(time: Timespec) -> Duration {
    let seconds = u64::try_from(time.tv_sec).expect("clocks are after their epoch");
    let nanos = u32::try_from(time.tv_nsec).expect("less than a second");
    Duration::new(seconds, nanos)
}

/// Resident memory now, in bytes.
pub fn resident() -> f64 {
    status("VmRSS:")
}

/// The most resident memory since the start or the last [`forget_peak`], in bytes.
pub fn peak() -> f64 {
    status("VmHWM:")
}

/// Lets [`peak`] begin anew. Where the system does not, the peak is that since the start.
pub fn forget_peak() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// A line of the kernel's account, or NaN where there is none.
fn status(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    line(&status, name)
        .and_then(|rest| rest.strip_suffix(" kB")?.parse().ok())
        .map_or(f64::NAN, |kilobytes: f64| kilobytes * 1024.0)
}

fn line<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    let mut lines = status.lines();
    lines
        .find_map(|line| line.strip_prefix(name))
        .map(str::trim)
}
