//! The consuming half of a controller: process, commit what succeeded, try again what did not.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use informer_deltafifo::Work;
use informer_store::{ObjectKey, Scope};

use crate::applying::apply::Event;
use crate::applying::arrival::Arrival;
use crate::controller::{ControllerReport, OnFailure};
use crate::running::core::Core;
use crate::running::source_tasks::{BATCH, Consuming};

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
    let watcher = consumer.watcher();
    let mut begun = Begun::default();
    while let Some(leased) = consumer.next(BATCH).await {
        let (mut failed, mut given_up) = (Vec::new(), BTreeSet::new());
        for (position, work) in leased.works.iter().enumerate() {
            let notices = core.applier.preview(&Scope::All, work, leased.initial);
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
            .works
            .iter()
            .enumerate()
            .filter(|(at, _)| !failed.contains(at));
        let version = leased.applied_after.clone().filter(|_| failed.is_empty());
        core.applier.apply(
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
                begun.take(&quarantined.work);
            }
            core.applier.give_up(given_up);
            pause(core, on_failure).await;
        }
        core.applier.publish(&Scope::All, &watcher, None);
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
    work: &Work<ObjectKey, Arrival<T>>,
    notice: Event<T>,
) -> Attempt
where
    T: Send + Sync + 'static,
    P: FnMut(Event<T>) -> F + Send,
    F: Future<Output = Result<(), E>> + Send,
    E: fmt::Display + Send,
{
    for _ in 0..core.settings.bounds.attempts.get() {
        let Err(error) = process(Arc::clone(&notice)).await else {
            return Attempt::Done;
        };
        report.failed += 1;
        tracing::warn!(controller = %core.board.name, "a change failed: {error}");
        match (on_failure, work) {
            (OnFailure::Skip, _) => return Attempt::Done,
            (OnFailure::Retry { .. }, Work::Replace { .. }) => pause(core, on_failure).await,
            (OnFailure::Retry { .. }, Work::Key { .. } | Work::Resync) => return Attempt::Failed,
        }
    }
    Attempt::GivenUp
}

/// Once stopped, what is left is tried again at once, so that the end is near.
async fn pause<T: Send + Sync + 'static>(core: &Core<T>, on_failure: OnFailure) {
    if let OnFailure::Retry { after } = on_failure
        && !core.runtime.stop.is_cancelled()
    {
        tokio::select! {
            () = core.runtime.stop.cancelled() => {}
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
    fn take<T>(&mut self, work: &Work<ObjectKey, Arrival<T>>) -> usize {
        match work {
            Work::Key { key, .. } => self.0.remove(key).unwrap_or(0),
            Work::Replace { .. } | Work::Resync => 0,
        }
    }

    fn put(&mut self, key: ObjectKey, done: usize) {
        self.0.insert(key, done);
    }
}
