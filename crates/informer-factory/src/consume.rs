//! The consuming half of a controller: process, commit what succeeded, try again what did not.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use informer_deltafifo::Item;
use informer_store::{ObjectKey, Scope};

use crate::arrival::Arrival;
use crate::controller::{ControllerReport, OnFailure};
use crate::core::Core;
use crate::informer::Event;
use crate::source_tasks::{BATCH, Consuming, quarantine};

/// Leases, processes, commits what succeeded, and gives back what did not.
pub(crate) async fn consume<T, P, F, E>(
    core: &Core<T>,
    consumer: &Consuming<T>,
    on_failure: OnFailure,
    process: &mut P,
    report: &mut ControllerReport,
) where
    T: Send + Sync + 'static,
    P: FnMut(Event<T>) -> F + Send,
    F: Future<Output = Result<(), E>> + Send,
    E: fmt::Display + Send,
{
    let watcher = consumer.observer();
    let mut begun = Begun::default();
    while let Some(leased) = consumer.next(BATCH).await {
        let (mut failed, mut given_up) = (Vec::new(), BTreeSet::new());
        for (position, work) in leased.items.iter().enumerate() {
            let notices = core.preview(&Scope::All, work, leased.initial);
            let before = begun.take(work);
            for (done, notice) in notices.into_iter().enumerate().skip(before) {
                let key = notice.key().clone();
                match attempt(core, on_failure, process, report, work, notice).await {
                    Attempt::Done => report.processed += 1,
                    Attempt::GivenUp => drop(given_up.insert(key)),
                    Attempt::Failed => {
                        failed.push(position);
                        begun.put(key, done);
                        break;
                    }
                }
            }
        }
        let done = leased
            .items
            .iter()
            .enumerate()
            .filter(|(at, _)| !failed.contains(at));
        let version = leased.applied_after.clone().filter(|_| failed.is_empty());
        core.apply(
            &Scope::All,
            done.map(|(_, work)| work),
            leased.initial,
            version.as_ref(),
            &given_up,
        );
        if failed.is_empty() {
            leased.ack();
        } else {
            let given_up = leased.nack(&failed);
            for quarantined in &given_up {
                // What is given up begins anew, if its key ever comes again.
                begun.take(&quarantined.item);
            }
            quarantine(core, given_up);
            pause(core, on_failure).await;
        }
        core.publish(&Scope::All, &watcher, None);
    }
}

/// How processing one notification ended.
enum Attempt {
    Done,
    /// To be handed out again by the queue.
    Failed,
    /// Tried often enough.
    GivenUp,
}

/// Processes one notification. What is part of a relist in one piece is tried again on the spot,
/// since the queue could only hand out the whole of it.
async fn attempt<T, P, F, E>(
    core: &Core<T>,
    on_failure: OnFailure,
    process: &mut P,
    report: &mut ControllerReport,
    work: &Item<ObjectKey, Arrival<T>>,
    notice: Event<T>,
) -> Attempt
where
    T: Send + Sync + 'static,
    P: FnMut(Event<T>) -> F + Send,
    F: Future<Output = Result<(), E>> + Send,
    E: fmt::Display + Send,
{
    for _ in 0..core.settings.attempts.get() {
        let Err(error) = process(Arc::clone(&notice)).await else {
            return Attempt::Done;
        };
        report.failed += 1;
        tracing::warn!(controller = %core.name, "a change failed: {error}");
        match (on_failure, work) {
            (OnFailure::Skip, _) => return Attempt::Done,
            (OnFailure::Retry { .. }, Item::Replace { .. }) => pause(core, on_failure).await,
            (OnFailure::Retry { .. }, Item::Key { .. } | Item::Resync) => return Attempt::Failed,
        }
    }
    Attempt::GivenUp
}

/// Once stopped, what is left is tried again at once, so that the end is near.
async fn pause<T: Send + Sync + 'static>(core: &Core<T>, on_failure: OnFailure) {
    if let OnFailure::Retry { after } = on_failure
        && !core.stop.is_cancelled()
    {
        tokio::select! {
            () = core.stop.cancelled() => {}
            () = tokio::time::sleep(after) => {}
        }
    }
}

/// How many notifications of a key whose work failed were processed before it did, so that the
/// next attempt goes on where the last one stopped. Later changes of a key only add to the end. A
/// relist in one piece is tried again on the spot and never gets here.
#[derive(Default)]
struct Begun(HashMap<ObjectKey, usize>);

impl Begun {
    fn take<T>(&mut self, work: &Item<ObjectKey, Arrival<T>>) -> usize {
        match work {
            Item::Key { key, .. } => self.0.remove(key).unwrap_or(0),
            Item::Replace { .. } | Item::Resync => 0,
        }
    }

    fn put(&mut self, key: ObjectKey, done: usize) {
        self.0.insert(key, done);
    }
}
