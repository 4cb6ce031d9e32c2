//! Puts the emissions of the reflector into the queue.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use informer_deltafifo::{Deletion, Final, Producer};
use informer_reflector::{Body, Change, Emission, Epoch, Item, Refused, ResourceVersion, Sink};
use informer_store::{ObjectKey, Scope};

use crate::applying::applier::{Applier, ProgressObserver};
use crate::applying::received_item::ReceivedItem;
use crate::running::adapters::{FoundState, KnownKeys};

/// The producing end of one source.
pub(crate) struct QueueSink<T: Send + Sync + 'static> {
    applier: Arc<Applier<T>>,
    scope: Scope,
    producer: Producer<ObjectKey, ReceivedItem<T>, ResourceVersion>,
    progress: ProgressObserver<T>,
    epoch: u32,
    found: Arc<FoundState>,
}

impl<T: Send + Sync + 'static> QueueSink<T> {
    pub(crate) fn new(
        applier: Arc<Applier<T>>,
        scope: Scope,
        producer: Producer<ObjectKey, ReceivedItem<T>, ResourceVersion>,
        found: Arc<FoundState>,
    ) -> Self {
        let (epoch, progress) = (applier.status.epoch(&scope), producer.observer());
        Self {
            applier,
            scope,
            producer,
            progress,
            epoch,
            found,
        }
    }

    async fn replace(
        &mut self,
        items: Vec<Item<T>>,
        received: ResourceVersion,
        epoch: Epoch,
    ) -> Result<(), Refused> {
        let unseen = epoch == Epoch::Same && self.contradicts(&items, &received);
        let is_rewound = epoch == Epoch::New || unseen;
        if is_rewound {
            self.epoch = self.applier.status.begin_epoch(&self.scope);
        }
        if unseen {
            tracing::warn!(
                informer = %self.applier.status.name,
                "a list shows a rewind that no watch reported"
            );
        }
        // In the memory of the items, of which there may be very many.
        let listed: Vec<_> = items
            .into_iter()
            .map(|item| ReceivedItem::new(item, self.epoch))
            .collect();
        self.forget_unlisted(&listed);
        // A change may be applied between this and the relist; epochs then only move on to ours.
        let same_epoch = !is_rewound && self.applier.epoch(&self.scope) == self.epoch;
        let found = self.found.take();
        let known = || self.known(same_epoch.then_some(found));
        let accepted = self.producer.replace(listed, received, known).await;
        accepted.map_err(|_| Refused)?;
        self.note_progress();
        Ok(())
    }

    /// Whether a list knows an object in an older state than we do, without being older itself.
    ///
    /// In one history that cannot be. The server was rewound and has grown beyond our version
    /// since, which no watch shows; the list is what there is. What we know is what is
    /// queued, and then what is stored.
    // FM-39
    fn contradicts(&self, items: &[Item<T>], received: &ResourceVersion) -> bool {
        // Looked at before the store: what leaves the queue in between is in the store by then.
        let queued = self.queued_versions();
        // Versions of an older epoch, which a reflector that panicked had left, say nothing.
        let is_current = self.applier.epoch(&self.scope) == self.epoch;
        let store = self.applier.reader.snapshot();
        // What is reused is just what is stored: only what is queued may be newer.
        let has_news = |item: &&Item<T>| {
            !queued.is_empty() || is_current && !(store.is_empty() || is_reused(item))
        };
        items.iter().filter(has_news).any(|item| {
            let (key, version) = (&item.identity.key, &item.identity.version);
            let stored = || {
                let held = store
                    .get(key.as_str())
                    .filter(|_| is_current && !is_reused(item));
                held.map(|held| &held.version)
            };
            let held = queued.get(key).or_else(stored);
            held.is_some_and(|held| version.is_older_than(held) && !received.is_older_than(held))
        })
    }

    /// The newest version of each key that waits for the store.
    fn queued_versions(&self) -> HashMap<ObjectKey, ResourceVersion> {
        let mut queued = HashMap::new();
        self.producer.for_each_queued(&mut |key, item| {
            if item.epoch() == self.epoch {
                queued.insert(key.clone(), item.version.clone());
            }
        });
        queued
    }

    /// Releases quarantined keys that a relist leaves out. A key without a good version is not
    /// stored, so no deletion releases it.
    fn forget_unlisted(&self, listed: &[(ObjectKey, ReceivedItem<T>)]) {
        if self.applier.quarantine.len() > 0 {
            let listed: HashSet<_> = listed.iter().map(|(key, _)| key).collect();
            let keep = |key: &ObjectKey| !self.scope.covers(key) || listed.contains(key);
            self.applier.quarantine.retain(keep);
            self.applier.note_quarantine();
        }
    }

    async fn change(
        &mut self,
        change: Change,
        item: Item<T>,
        received: ResourceVersion,
    ) -> Result<(), Refused> {
        let (key, queued) = ReceivedItem::new(item, self.epoch);
        let accepted = match change {
            Change::Added => self.producer.add(key, queued, received).await,
            Change::Modified => self.producer.update(key, queued, received).await,
            Change::Deleted => return self.delete(key, queued, received).await,
        };
        accepted.map_err(|_| Refused)
    }

    async fn delete(
        &self,
        key: ObjectKey,
        queued: ReceivedItem<T>,
        received: ResourceVersion,
    ) -> Result<(), Refused> {
        let (last, known) = (Final::Observed(queued), || self.known(None));
        let delete = self.producer.delete(key.clone(), last, received, known);
        if delete.await.map_err(|_| Refused)? == Deletion::Ignored {
            // Nobody knows it, but it may have been there and never been good.
            self.applier.quarantine.release(&key, false);
            self.applier.note_quarantine();
        }
        self.note_progress();
        Ok(())
    }

    /// Publishes the progress if nothing is pending, since no commit would publish it then.
    fn note_progress(&self) {
        if self.producer.progress().unsettled == 0 {
            self.applier
                .publish(&self.scope, &self.progress, Some(self.epoch));
        }
    }

    /// Taken under the queue's lock, so that queue and store are seen in step.
    fn known(&self, found: Option<u64>) -> KnownKeys<T> {
        let is_whole = self.applier.quarantine.len() == 0;
        KnownKeys {
            snapshot: self.applier.reader.snapshot(),
            scope: self.scope.clone(),
            epoch: self.epoch,
            skip_held: found.filter(|_| is_whole),
        }
    }
}

fn is_reused<T>(item: &Item<T>) -> bool {
    matches!(item.body, Body::Reused(_))
}

impl<T: Send + Sync + 'static> Sink<T> for QueueSink<T> {
    async fn accept(&mut self, emission: Emission<T>) -> Result<(), Refused> {
        match emission {
            Emission::Replace {
                items,
                received,
                epoch,
            } => self.replace(items, received, epoch).await,
            Emission::Change {
                change,
                item,
                received,
            } => self.change(change, item, received).await,
            Emission::Bookmark { received } => {
                let accepted = self.producer.bookmark(received).await;
                accepted.map_err(|_| Refused)?;
                self.note_progress();
                Ok(())
            }
        }
    }
}
