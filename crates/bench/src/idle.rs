//! What informers cost that have nothing to do: many of them, each with a few objects.
//!
//! The driver of kube-runtime includes this file.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use crate::command_line::CommandLine;
use crate::control::Control;
use crate::measure::{self, Mark, Report};
use crate::phases;
use crate::tally::Goal;

/// How long nothing happens while processor time is measured.
const IDLE: Duration = Duration::from_secs(5);

/// Starts as many as the command line says, waits until their handlers have seen all objects and
/// `calls` more each, and then measures what they are when nothing happens.
///
/// # Errors
/// When the server is gone, one cannot be started, or something was not seen in time.
pub async fn run(
    peer: &'static str,
    command_line: &CommandLine,
    calls: u64,
    start: impl FnOnce(&Arc<Goal>) -> Result<()>,
) -> Result<Report> {
    let mut report = Report::new(peer);
    let control = Control::new(&command_line.server);
    let goal = Goal::new(command_line.informers);
    goal.expect(command_line.objects + calls);
    let each = |total: f64| total / command_line.informers as f64;
    let (memory, tasks) = (measure::resident(), tasks());
    let begin = Mark::now(control.server_cpu()?);
    start(&goal)?;
    goal.wait().await?;
    report.spent("many_sync", begin, phases::end(&control)?);
    // What the start needed only for itself is given back meanwhile.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let begin = measure::cpu();
    tokio::time::sleep(IDLE).await;
    let spent = measure::cpu().saturating_sub(begin).as_secs_f64();
    report.set("idle_cpu_ms_per_s", spent * 1e3 / IDLE.as_secs_f64());
    report.set("idle_bytes_each", each(measure::resident() - memory));
    report.set("idle_tasks_each", each(self::tasks() - tasks));
    Ok(report)
}

/// How many tasks there are in this runtime.
fn tasks() -> f64 {
    let metrics = tokio::runtime::Handle::current().metrics();
    metrics.num_alive_tasks() as f64
}
