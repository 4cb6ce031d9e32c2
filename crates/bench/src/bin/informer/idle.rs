//! Many informers of one factory, each with a selector of its own, so that none is shared.

use std::sync::Arc;

use anyhow::Result;
use informer_bench::command_line::CommandLine;
use informer_bench::idle;
use informer_bench::tally::{Goal, Tally};
use informer_factory::{Added, Handler, InformerOptions, NoView, ObjectKey, SharedInformerFactory};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Config;

/// Measures and reports. `is_packed` keeps the objects packed, without a view.
pub(crate) async fn run(command_line: &CommandLine, is_packed: bool) -> Result<()> {
    let url = format!("http://{}", command_line.server).parse()?;
    let factory = SharedInformerFactory::new(informer_factory::client(Config::new(url))?);
    let start = |goal: &Arc<Goal>| {
        for which in 0..command_line.informers {
            let selector = format!("which={which}");
            let counter = Counter(goal.tally());
            if is_packed {
                let options = InformerOptions::new().labels(selector);
                let informer = factory.packed_with::<Pod, NoView>(options)?;
                informer.add_handler(counter)?;
            } else {
                let options = InformerOptions::new().labels(selector);
                factory
                    .informer_with::<Pod>(options)?
                    .add_handler(counter)?;
            }
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

impl<T: 'static> Handler<ObjectKey, T> for Counter {
    fn on_add(&mut self, _: &Added<ObjectKey, T>) {
        self.0.add(|| None);
    }
}
