//! Memory that the host of a virtual machine has to provide first.
//!
//! A page that no program of the machine has touched before costs its first user ten times what
//! any later one pays, whichever program is measured: the same list took 3.4 or 7.5 seconds.
//! Before a warm trial, as much memory as it may need is touched and freed. Cold memory is memory
//! that the harness has not touched: cold trials run before all warm ones, each after some seconds
//! in which the machine is idle. It may have been touched by earlier programs, the cold trials
//! before among them, and no program can change that: some hosts take free pages back, when they
//! like. So a probe measures what the first touch of a page costs just before each trial.

use std::fs;
use std::hint::black_box;
use std::time::Duration;

use crate::clock;

const PAGE: usize = 4_096;

/// The number of pages of a probe: 64 MiB.
const PROBED: usize = 16_384;

/// What a trial needs for an object at the most: a pod in the type it has in Rust, twice during a
/// relist that builds everything anew, and some more.
const OBJECT: u64 = 80 * 1_024;

/// The state of the memory that a trial gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// The harness has just touched and freed the memory that this number of objects may need.
    Warm(u64),
    /// The harness has touched nothing, and has waited for so long.
    Cold(Duration),
}

/// Some memory that the harness holds while a trial runs, so that the trial gets other pages.
#[derive(Debug)]
pub(super) struct Probe {
    _pages: Vec<u8>,
    /// The cost of the first touch of a page, in microseconds.
    pub(super) touch_us: f64,
}

/// Brings the memory of the machine into this state, as far as that is possible, and probes it.
pub(super) fn prepare(memory: Memory) -> Probe {
    match memory {
        Memory::Warm(objects) => provide(objects),
        Memory::Cold(idle) => {
            let begin = clock::now();
            while clock::now().duration_since(begin) < idle {
                clock::pause();
            }
        }
    }
    let begin = clock::now();
    let pages = touched(PROBED * PAGE);
    let spent = clock::now().duration_since(begin);
    Probe {
        _pages: pages,
        touch_us: spent.as_secs_f64() * 1e6 / PROBED as f64,
    }
}

/// Touches the memory that a trial with `objects` objects may need, at most half of what is free.
fn provide(objects: u64) {
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let Ok(bytes) = usize::try_from(needed(objects, available(&info))) else {
        return;
    };
    drop(touched(bytes));
}

/// So many bytes, each page of which has been written.
fn touched(bytes: usize) -> Vec<u8> {
    let mut pages = vec![0_u8; bytes];
    pages.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    black_box(pages)
}

fn needed(objects: u64, available: u64) -> u64 {
    objects.saturating_mul(OBJECT).min(available / 2)
}

/// Free memory in bytes, by the kernel's account; none where it does not say.
fn available(info: &str) -> u64 {
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1_024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_says_what_a_page_costs() {
        assert!(prepare(Memory::Cold(Duration::ZERO)).touch_us > 0.0);
    }

    #[test]
    fn half_of_what_is_free_is_the_most() {
        let info = "MemTotal:       24684084 kB\nMemAvailable:   22000000 kB\n";
        assert_eq!(available(info), 22_528_000_000);
        assert_eq!(needed(100_000, available(info)), 8_192_000_000);
        assert_eq!(needed(300_000, available(info)), 11_264_000_000);
        assert_eq!(needed(300_000, available("")), 0, "nobody knows");
        assert_eq!(needed(u64::MAX, available(info)), 11_264_000_000);
    }
}
