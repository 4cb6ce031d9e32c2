//! The time of single operations, without a server: the pods are the same that it would send.

use anyhow::Result;
use informer_bench::batches;
use informer_bench::command_line::CommandLine;
use informer_bench::measure::Report;
use informer_bench::parts::{self, crowd, pods::Pods};

/// How many handlers an event is handed to.
const CROWDS: [u64; 3] = [1, 10, 100];

/// Measures all of them.
pub(crate) async fn run(command_line: &CommandLine) -> Result<()> {
    let mut report = Report::new("informer");
    let pods = Pods::decode(usize::try_from(command_line.objects)?);
    for handlers in CROWDS {
        crowd::measure(&pods, handlers, &mut report).await?;
    }
    // A runtime must not be waited for within another one.
    let measured = tokio::task::spawn_blocking(move || {
        for part in parts::all() {
            let name = part.name.replace('/', "_");
            batches::report(&mut report, &name, part.batch, (part.prepare)(&pods));
        }
        // Dropping 100,000 objects is not measured.
        std::mem::forget(pods);
        report
    });
    measured.await?.print();
    Ok(())
}
