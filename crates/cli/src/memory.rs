//! How much memory this process has needed.

/// The largest resident size so far, in bytes; `None` where the system does not tell.
pub(crate) fn peak_rss_bytes() -> Option<u64> {
    let status = if cfg!(target_os = "linux") {
        std::fs::read_to_string("/proc/self/status").ok()?
    } else {
        return None;
    };
    high_water_mark(&status)
}

fn high_water_mark(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_high_water_mark_is_read() {
        let status = "Name:\tx\nVmPeak:\t  999 kB\nVmHWM:\t    12 kB\nVmRSS:\t 8 kB\n";
        assert_eq!(high_water_mark(status), Some(12 * 1024));
        assert_eq!(high_water_mark("Name:\tx\n"), None);
    }
}
