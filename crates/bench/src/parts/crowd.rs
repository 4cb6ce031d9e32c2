//! Handing events to many handlers on a runtime of many threads (P8, P13), as an informer does.
//!
//! The sender is a task that gives way now and then, like the one that applies changes. The clock
//! stops when every handler has been called for every event.

use anyhow::Result;
use informer_factory::ObjectKey;
use informer_factory::processor::{ListenerConfig, Processor, Replay, handler_fn};
use k8s_openapi::api::core::v1::Pod;

use super::listener::{News, news};
use super::pods::Pods;
use crate::batches;
use crate::measure::{self, Report};
use crate::tally::Goal;

/// How often it is measured.
const ROUNDS: usize = 9;

/// How many calls of handlers one round has.
const CALLS: u64 = 100_000;

/// Nanoseconds for an event until all of so many handlers have been called: by the clock, on
/// processors, and by the clock until the sender may go on.
pub async fn measure(pods: &Pods, handlers: u64, report: &mut Report) -> Result<()> {
    let processor: Processor<ObjectKey, Pod> = Processor::default();
    let count = usize::try_from(handlers)?;
    let goal = Goal::new(count);
    for _ in 0..handlers {
        let mut tally = goal.tally();
        let handler = handler_fn(move |_: &News| tally.add(|| None));
        let joining = processor.add(handler, ListenerConfig::default())?;
        joining.begin(0, Replay::empty());
    }
    processor.upstream_synced();
    let events = CALLS / handlers.max(5);
    let mut rounds = [const { Vec::new() }; 3];
    for round in 0..ROUNDS as u64 {
        goal.expect(events);
        let begin = (measure::now(), measure::cpu());
        let first = round * events + 1;
        let sender = tokio::spawn(send(processor.clone(), pods.clone(), first, events));
        let sent = sender.await? - begin.0;
        goal.wait().await?;
        let spent = [measure::now() - begin.0, measure::cpu() - begin.1, sent];
        for (all, spent) in rounds.iter_mut().zip(spent) {
            all.push(spent.as_secs_f64() * 1e9 / events as f64);
        }
    }
    for (all, figure) in rounds.iter_mut().zip(["ns", "cpu_ns", "send_ns"]) {
        report.set(
            format!("distribute_{handlers}_{figure}"),
            batches::median(all),
        );
    }
    Ok(())
}

/// When it was done.
async fn send(
    processor: Processor<ObjectKey, Pod>,
    pods: Pods,
    first: u64,
    events: u64,
) -> std::time::Duration {
    for sequence in first..first + events {
        processor.distribute(sequence, &[news(&pods, sequence)]);
        tokio::task::coop::consume_budget().await;
    }
    measure::now()
}
