//! The memory of this process that is in memory.

use anyhow::{Context, Result};

/// In MiB.
pub(crate) fn resident() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next());
    let kibibytes: f64 = kibibytes.context("the status tells of memory")?.parse()?;
    Ok(kibibytes / 1024.0)
}
