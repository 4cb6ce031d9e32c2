//! A handler that joins late, beside one that follows changes.

use anyhow::{Result, ensure};
use informer_bench::command_line::CommandLine;
use informer_bench::late::{self, Witness};
use informer_bench::measure::Report;
use informer_bench::tally::{Goal, Tally};
use informer_factory::{Added, Handler, ObjectKey, SharedInformerFactory, Updated};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Config;

use crate::stamp;

/// How long the first list may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(600);

/// Measures and reports.
pub(crate) async fn run(command_line: &CommandLine) -> Result<()> {
    let url = format!("http://{}", command_line.server).parse()?;
    let factory = SharedInformerFactory::new(informer_factory::client(Config::new(url))?);
    let informer = factory.informer::<Pod>();
    let witness = Witness::default();
    informer.add_handler(First(witness.clone()))?;
    factory.start()?;
    informer.wait_synced(PATIENCE).await?;
    let stored = informer.status().objects as u64;
    ensure!(stored == command_line.objects, "{stored} objects stored");
    let mut report = Report::new("informer");
    let join = async || {
        let goal = Goal::new(1);
        goal.expect(stored);
        let registration = informer.add_handler(Late(goal.tally()))?;
        goal.wait().await?;
        Ok(registration)
    };
    let leave = async |registration: informer_factory::Registration| {
        registration.remove().await?;
        Ok(())
    };
    late::run(&mut report, command_line, &witness, join, leave).await?;
    report.print();
    // As in the other courses: the factory ends with the process.
    std::mem::forget(factory);
    Ok(())
}

/// Notes how old each change is.
struct First(Witness);

impl Handler<ObjectKey, Pod> for First {
    fn on_update(&mut self, updated: &Updated<ObjectKey, Pod>) {
        self.0.add(stamp(&updated.new));
    }
}

/// Counts the objects it is told of at first.
struct Late(Tally);

impl Handler<ObjectKey, Pod> for Late {
    fn on_add(&mut self, added: &Added<ObjectKey, Pod>) {
        if added.initial {
            self.0.add(|| None);
        }
    }
}
