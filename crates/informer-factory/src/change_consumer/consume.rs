//! The loop of a `ChangeConsumer`: process, commit what succeeded, try again what did not.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use informer_deltafifo::Item;
use informer_store::{ObjectKey, Scope};

use crate::applying::applier::Lease;
use crate::applying::apply::Event;
use crate::applying::quarantine::QuarantineReason;
use crate::applying::received_item::ReceivedItem;
use crate::applying::verdict::Refused;
use crate::change_consumer::{ChangeConsumerReport, OnFailure};
use crate::running::core::Core;
use crate::running::source_tasks::{BATCH, Consuming};

/// The one consumer of the queue.
pub(super) struct Consume<'a, T: Send + Sync + 'static, P> {
    pub(super) core: &'a Core<T>,
    pub(super) on_failure: OnFailure,
    pub(super) process: P,
    pub(super) report: ChangeConsumerReport,
    /// The number of processed notifications of a key whose change failed after them, so that the
    /// next attempt goes on where the last one stopped. Later changes of a key only add to the end.
    /// A relist in one piece is tried again on the spot and never gets here.
    pub(super) begun: HashMap<ObjectKey, usize>,
}

/// How processing one notification ended.
enum Attempt {
    Done,
    /// To be handed out again by the queue.
    Failed,
    /// Tried often enough.
    GivenUp,
}

impl<T, P, F, E> Consume<'_, T, P>
where
    T: Send + Sync + 'static,
    P: FnMut(Event<T>) -> F + Send,
    F: Future<Output = Result<(), E>> + Send,
    E: fmt::Display + Send,
{
    /// Leases, processes, commits what succeeded, and gives back what did not.
    pub(super) async fn run(&mut self, consumer: &Consuming<T>) {
        let (applier, progress) = (&self.core.applier, consumer.observer());
        let attempts = self.core.settings.attempts.get();
        let reason = QuarantineReason::Unappliable { attempts };
        while let Some(leased) = consumer.next(BATCH).await {
            let (mut failed, mut given_up) = (Vec::new(), Refused::new());
            for (position, item) in leased.items.iter().enumerate() {
                let events = applier.preview(&Scope::All, item, leased.initial);
                let before = self.take_begun(item);
                for (done, event) in events.into_iter().enumerate().skip(before) {
                    let key = event.key().clone();
                    match self.attempt(item, event).await {
                        Attempt::Done => self.report.processed += 1,
                        Attempt::GivenUp => drop(given_up.insert(key, reason.clone())),
                        Attempt::Failed => {
                            failed.push(position);
                            self.begun.insert(key, done);
                            break;
                        }
                    }
                }
            }
            let items = leased.items.iter().enumerate();
            let done = items.filter(|(at, _)| !failed.contains(at));
            let lease = Lease {
                scope: &Scope::All,
                items: done.map(|(_, item)| item).collect(),
                initial: leased.initial,
                version: leased.applied_after.as_ref().filter(|_| failed.is_empty()),
            };
            applier.apply(&lease, given_up);
            if failed.is_empty() {
                leased.ack();
            } else {
                let given_up = leased.nack(&failed);
                for quarantined in &given_up {
                    // A later change of the key is processed from its beginning.
                    self.take_begun(&quarantined.item);
                }
                applier.give_up(given_up);
                self.pause().await;
            }
            applier.publish(&Scope::All, &progress, None);
        }
    }

    /// Processes one notification. What is part of a relist in one piece is tried again on the
    /// spot, since the queue could only hand out the whole of it.
    async fn attempt(
        &mut self,
        item: &Item<ObjectKey, ReceivedItem<T>>,
        event: Event<T>,
    ) -> Attempt {
        for _ in 0..self.core.settings.attempts.get() {
            let Err(error) = (self.process)(Arc::clone(&event)).await else {
                return Attempt::Done;
            };
            self.report.failed += 1;
            tracing::warn!(informer = %self.core.status.name, "a change failed: {error}");
            match (self.on_failure, item) {
                (OnFailure::Skip, _) => return Attempt::Done,
                (OnFailure::Retry { .. }, Item::Replace { .. }) => self.pause().await,
                (OnFailure::Retry { .. }, Item::Key { .. } | Item::Resync) => {
                    return Attempt::Failed;
                }
            }
        }
        Attempt::GivenUp
    }

    /// After a stop nothing is waited for, so that the end is near.
    async fn pause(&self) {
        let stop = &self.core.runtime.stop;
        if let OnFailure::Retry { after } = self.on_failure {
            stop.run_until_cancelled(tokio::time::sleep(after)).await;
        }
    }

    fn take_begun(&mut self, item: &Item<ObjectKey, ReceivedItem<T>>) -> usize {
        match item {
            Item::Key { key, .. } => self.begun.remove(key).unwrap_or(0),
            Item::Replace { .. } | Item::Resync => 0,
        }
    }
}
