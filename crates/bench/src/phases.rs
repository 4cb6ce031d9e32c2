//! What a driver in Rust does, whoever it drives: start, settle, changes, the same at a rate,
//! relist.
//!
//! The driver of kube-runtime includes this file, so that both are measured by the same code.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::command_line::CommandLine;
use crate::control::Control;
use crate::floor::Floor;
use crate::measure::{self, Mark, Report};
use crate::tally::Goal;

/// How long memory may settle before it is read: allocators keep what was freed for up to a second.
const SETTLE: Duration = Duration::from_secs(2);

/// The bytes that are then allocated and freed.
const NEEDED: usize = 1024 * 1024;

/// How often the peer calls each handler.
#[derive(Clone, Copy, Debug)]
pub struct Calls {
    /// For the initial state.
    pub initial: u64,
    /// For a relist.
    pub relist: u64,
}

/// Runs the phases that the command line asks for. `start` begins to follow the server, and returns
/// what counts the objects stored.
///
/// # Errors
/// When the server is gone, or something was not seen in time.
pub async fn run<C: Fn() -> usize>(
    peer: &'static str,
    command_line: &CommandLine,
    calls: Calls,
    start: impl FnOnce(&Arc<Goal>) -> Result<C>,
) -> Result<Report> {
    let mut report = Report::new(peer);
    let control = Control::new(&command_line.server);
    let goal = Goal::new(command_line.handlers);
    goal.expect(calls.initial);
    report.set("start_rss", measure::resident());
    let begin = Mark::now(control.server_cpu()?);
    let count = start(&goal)?;
    goal.wait().await?;
    report.spent("sync", begin, end(&control)?);
    report.set("sync_rss", measure::resident());
    settle(&mut report, "sync").await;
    let stored = count();
    if stored as u64 != command_line.objects {
        bail!("{stored} objects stored");
    }
    if command_line.events > 0 {
        let begin = Mark::now(control.server_cpu()?);
        goal.expect(command_line.events);
        control.change(command_line.events)?;
        goal.wait().await?;
        report.spent("events", begin, end(&control)?);
    }
    if command_line.rate > 0 {
        latency(command_line, &control, &goal, &mut report).await?;
    }
    if command_line.changed > 0 {
        settle(&mut report, "before_relist").await;
        report.set("peak_is_fresh", f64::from(u8::from(measure::forget_peak())));
        let begin = Mark::now(control.server_cpu()?);
        goal.expect(calls.relist);
        control.expire(command_line.changed)?;
        goal.wait().await?;
        report.spent("relist", begin, end(&control)?);
        settle(&mut report, "relist").await;
    }
    Ok(report)
}

/// The clocks stop first, and then the server is asked.
pub(crate) fn end(control: &Control) -> Result<Mark> {
    let mark = Mark::now(0.0);
    let server_cpu_s = control.server_cpu()?;
    Ok(Mark {
        server_cpu_s,
        ..mark
    })
}

async fn settle(report: &mut Report, phase: &str) {
    tokio::time::sleep(SETTLE).await;
    report.set(format!("{phase}_peak_rss"), measure::peak());
    // mimalloc returns free memory only when the program allocates or frees some.
    drop(black_box(vec![1_u8; NEEDED]));
    report.set(format!("{phase}_steady_rss"), measure::resident());
}

async fn latency(
    command_line: &CommandLine,
    control: &Control,
    goal: &Goal,
    report: &mut Report,
) -> Result<()> {
    let count = command_line.rate * command_line.seconds;
    goal.measure_latency(true);
    goal.expect(count);
    let floor = Floor::start()?;
    let begin = Mark::now(control.server_cpu()?);
    control.change_at(count, command_line.rate)?;
    goal.wait().await?;
    report.spent("paced", begin, end(control)?);
    floor.finish(report)?;
    goal.measure_latency(false);
    let latencies = goal.take_latencies();
    for (name, percent) in [("p50", 50), ("p99", 99)] {
        let at = latencies.len() * percent / 100;
        report.set(format!("latency_{name}_us"), latencies[at] as f64);
    }
    Ok(())
}
