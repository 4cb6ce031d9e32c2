//! Many informers of one factory, each with a selector of its own, so that none is shared.

use std::sync::Arc;

use anyhow::Result;
use informer_bench::command_line::CommandLine;
use informer_bench::idle;
use informer_bench::tally::{Goal, Tally};
use informer_factory::{Added, Handler, InformerOptions, ObjectKey, SharedInformerFactory};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Config;

/// Measures and reports.
pub(crate) async fn run(command_line: &CommandLine) -> Result<()> {
    let url = format!("http://{}", command_line.server).parse()?;
    let factory = SharedInformerFactory::new(informer_factory::client(Config::new(url))?);
    let start = |goal: &Arc<Goal>| {
        for which in 0..command_line.informers {
            let options = InformerOptions::new().labels(format!("which={which}"));
            let informer = factory.informer_with::<Pod>(options)?;
            informer.add_handler(Counter(goal.tally()))?;
        }
        Ok(factory.start()?)
    };
    let report = idle::run("informer", command_line, 0, start).await?;
    report.print();
    // As in the other courses: the factory ends with the process.
    std::mem::forget(factory);
    Ok(())
}

/// Counts objects.
struct Counter(Tally);

impl Handler<ObjectKey, Pod> for Counter {
    fn on_add(&mut self, _: &Added<ObjectKey, Pod>) {
        self.0.add(|| None);
    }
}
