//! Keeps a process on one processor, so that what it does has one order.

use anyhow::Result;

/// Keeps the process on the `turn`th processor of those that it may use, counted round and round.
///
/// Other systems than Linux do not support it, and leave the process as it is.
///
/// # Errors
///
/// If the system refuses.
#[cfg(target_os = "linux")]
pub fn stay_on_one(turn: usize) -> Result<()> {
    use anyhow::Context;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    let may_use = sched_getaffinity(None)?;
    let count = usize::try_from(may_use.count())?;
    let mut set = (0..CpuSet::MAX_CPU).filter(|processor| may_use.is_set(*processor));
    let chosen = set.nth(turn % count.max(1));
    let mut one = CpuSet::new();
    one.set(chosen.context("a process has a processor")?);
    sched_setaffinity(None, &one).context("it may use that processor")
}

/// Leaves the process as it is.
///
/// # Errors
///
/// None.
#[cfg(not(target_os = "linux"))]
pub fn stay_on_one(_turn: usize) -> Result<()> {
    Ok(())
}
