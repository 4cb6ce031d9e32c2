//! Memory that the host of a virtual machine has to provide first.
//!
//! A page that no program of the machine has touched before costs its first user ten times what
//! any later one pays, which is nobody's doing whose program is measured: the same list took 3.4
//! or 7.5 seconds. So as much as a trial may need is touched and given back before it.

use std::fs;
use std::hint::black_box;

const PAGE: usize = 4_096;

/// What a trial needs for an object at the most: a pod in the type it has in Rust, twice during a
/// relist that builds everything anew, and some more.
const OBJECT: u64 = 80 * 1_024;

/// Touches what a trial with so many objects may need, but no more than half of what is free.
pub(super) fn provide(objects: u64) {
    let bytes = (objects * OBJECT).min(available() / 2);
    let Ok(bytes) = usize::try_from(bytes) else {
        return;
    };
    let mut pages = vec![0_u8; bytes];
    pages.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
    black_box(&pages);
}

/// Free memory in bytes; none where the system does not say.
fn available() -> u64 {
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
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
    fn what_is_asked_for_is_bounded_by_what_there_is() {
        provide(0);
        provide(10);
        assert!(available() < u64::MAX / 2_048);
    }
}
